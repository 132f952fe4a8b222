/** Attachments as they are in a message: a text block each, in a tag that its content cannot close. */

import { tagged, withoutEnding } from "./tags";

const OPENING = /^<attachment title="([^"]*)">\n/;
const CLOSING = "\n</attachment>";

export function attachmentBlock(title: string, text: string): string {
  return tagged("attachment", ` title="${withoutEnding(title, "'")}"`, text);
}

/** The title and the text of an attachment's block; undefined for any other text. */
export function readAttachmentBlock(block: string): { title: string; text: string } | undefined {
  const opening = OPENING.exec(block);
  if (opening === null || !block.endsWith(CLOSING)) return undefined;
  return { title: opening[1] ?? "", text: block.slice(opening[0].length, -CLOSING.length) };
}
