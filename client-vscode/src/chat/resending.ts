import { readAttachmentBlock } from "../context/blocks";
import type { AssistantContent, AttachedRange, Entry, NewEntry, PromptUpdate, TextContent, UserContent } from "../protocol.gen";
import type { Outgoing } from "./turns";

const ENDED = "The server ended before the reply was complete.";

/** The content of a message of the user, with `text` in place of its own where that is given; what is `attached` stays. */
export function messageContent(entry: Entry, text: string | undefined, attached: readonly AttachedRange[] = []): string | UserContent[] {
  if (entry.type !== "message" || entry.message.role !== "user") throw new Error("Only your own messages can be sent again.");
  const { content } = entry.message;
  if (text === undefined) return content;
  let block = -1;
  const stays = (typeof content === "string" ? [{ type: "text" as const, text: content }] : content).flatMap((part): UserContent[] => {
    if (part.type === "text") block += 1;
    if (!isTyped(part)) return [part];
    return attached.filter((range) => range.block === block).map(({ start, end }) => ({ type: "text", text: part.text.slice(start, end) }));
  });
  return stays.length === 0 ? text : [{ type: "text", text }, ...stays];
}

/** What the user typed of a message. */
export function textOf(outgoing: Outgoing): string {
  if ("text" in outgoing) return outgoing.text;
  if ("resume" in outgoing) return "";
  if (typeof outgoing.content === "string") return outgoing.content;
  return outgoing.content.filter(isTyped).map(({ text }) => text).join("\n");
}

function isTyped(part: UserContent): part is TextContent {
  return part.type === "text" && readAttachmentBlock(part.text) === undefined;
}

/** The reply that the end of the server cut off, as far as it had come. */
export function interruptedReply(pieces: readonly PromptUpdate[]): NewEntry {
  const content = pieces.flatMap((piece): AssistantContent[] => {
    if (piece.kind === "text") return [{ type: "text", text: piece.text }];
    return piece.kind === "thinking" ? [{ type: "thinking", thinking: piece.text }] : [];
  });
  return { type: "message", message: { role: "assistant", content, stopReason: "error", errorMessage: ENDED } };
}
