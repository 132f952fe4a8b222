import { ToolError } from "./errors";
import { LARGEST } from "./text-file";

export interface TextEdit {
  oldText: string;
  newText: string;
  replaceAll?: boolean | undefined;
}

const QUOTED = 80;
/** Of all edits of a call together. A guess: replacing so many takes a tenth of a second. */
const MOST_PLACES = 1_000_000;

/**
 * The text with every edit applied, one after the other. Line ends of the file are kept: a model writes `\n`.
 * Throws `ToolError` where an edit does not match exactly one place, and where the text would be too large.
 */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const ends = text.includes("\r\n") ? "\r\n" : "\n";
  let changed = text;
  let places = 0;
  for (const [at, { oldText, newText, replaceAll }] of edits.entries()) {
    const number = edits.length > 1 ? `Edit ${at + 1}: ` : "";
    if (oldText === "") throw new ToolError(`${number}oldText is empty. Use write_file for a new file or the whole content.`);
    const [from, to] = [withLineEnds(oldText, ends), withLineEnds(newText, ends)];
    if (from === to) throw new ToolError(`${number}oldText and newText are the same.`);
    const count = occurrences(changed, from);
    if (count === 0) throw new ToolError(`${number}oldText is not in the file: ${quote(oldText)} Read the file again and copy the text exactly, with its indentation.`);
    if (count > 1 && replaceAll !== true) {
      throw new ToolError(`${number}oldText is in the file ${count} times: ${quote(oldText)} Add the lines around it until it is unique, or set replaceAll.`);
    }
    places += count;
    if (places > MOST_PLACES || changed.length + count * (to.length - from.length) > LARGEST) {
      throw new ToolError(`${number}The edits make too much text: more than ${LARGEST.toLocaleString("en")} characters, or ${MOST_PLACES.toLocaleString("en")} replacements. Use run_command.`);
    }
    changed = changed.split(from).join(to);
  }
  return changed;
}

function withLineEnds(text: string, ends: string): string {
  return text.replace(/\r\n|\n/g, ends);
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

function quote(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return `“${line.slice(0, QUOTED)}${line.length > QUOTED || text.trim().includes("\n") ? "…" : ""}”.`;
}
