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
 * The text with every edit applied, one after the other. A model writes `\n` for each line end; what it writes has the
 * line ends of its place. Throws `ToolError` where an edit does not match exactly one place, and where the text would be
 * too large: larger than `LARGEST` and than it was.
 */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  let changed = text;
  let all = 0;
  for (const [at, { oldText, newText, replaceAll }] of edits.entries()) {
    const number = edits.length > 1 ? `Edit ${at + 1}: ` : "";
    if (oldText === "") throw new ToolError(`${number}oldText is empty. Use write_file for a new file or the whole content.`);
    const [from, to] = [withLineEnds(oldText, "\n"), withLineEnds(newText, "\n")];
    if (from === to) throw new ToolError(`${number}oldText and newText are the same.`);
    const places = placesOf(from, withLineEnds(changed, "\n"));
    const count = places.length;
    if (count === 0) throw new ToolError(`${number}oldText is not in the file: ${quote(oldText)} Read the file again and copy the text exactly, with its indentation.`);
    if (count > 1 && replaceAll !== true) {
      throw new ToolError(`${number}oldText is in the file ${count} times: ${quote(oldText)} Add the lines around it until it is unique, or set replaceAll.`);
    }
    all += count;
    const longest = withLineEnds(to, changed.includes("\r\n") ? "\r\n" : "\n").length;
    if (all > MOST_PLACES || changed.length + count * (longest - from.length) > Math.max(LARGEST, text.length)) {
      throw new ToolError(`${number}The edits make too much text: more than ${LARGEST.toLocaleString("en")} characters, or ${MOST_PLACES.toLocaleString("en")} replacements. Use run_command.`);
    }
    changed = replaced(changed, places, from.length, to);
  }
  return changed;
}

function withLineEnds(text: string, ends: "\n" | "\r\n"): string {
  return text.replaceAll(/\r\n|\n/g, ends);
}

/** Where `part` begins in `text`, none within the one before. Linear (Knuth, Morris, Pratt): `indexOf` of Node is not. */
function placesOf(part: string, text: string): number[] {
  const borders = new Int32Array(part.length);
  const places: number[] = [];
  for (let at = 1, length = 0; at < part.length; at += 1) {
    length = extended(part, borders, length, part.charCodeAt(at));
    borders[at] = length;
  }
  for (let at = 0, length = 0; at < text.length; at += 1) {
    length = extended(part, borders, length, text.charCodeAt(at));
    if (length < part.length) continue;
    places.push(at + 1 - length);
    length = 0;
  }
  return places;
}

/** How much of the beginning of `part` is there with one `unit` more, after the first `length` units. */
function extended(part: string, borders: Int32Array, length: number, unit: number): number {
  let same = length;
  while (same > 0 && part.charCodeAt(same) !== unit) same = borders[same - 1] ?? 0;
  return part.charCodeAt(same) === unit ? same + 1 : 0;
}

/** `places` and `length` count `\r\n` as one character. */
function replaced(text: string, places: readonly number[], length: number, by: string): string {
  const [offsetOf, endsAt] = [offsetsIn(text), lineEndsIn(text)];
  const forms = { "\n": by, "\r\n": withLineEnds(by, "\r\n") };
  let end = 0;
  const pieces = places.flatMap((place) => {
    const start = offsetOf(place);
    const before = text.slice(end, start);
    end = offsetOf(place + length);
    return [before, forms[endsAt(start)]];
  });
  return [...pieces, text.slice(end)].join("");
}

/** Where in the text a place is that counts `\r\n` as one character. Each place is asked for after the ones before it. */
function offsetsIn(text: string): (place: number) => number {
  let longer = 0;
  let next = text.indexOf("\r\n");
  return (place) => {
    for (; next !== -1 && next < place + longer; next = text.indexOf("\r\n", next + 2)) longer += 1;
    return place + longer;
  };
}

/** The line end that follows an offset, else the last one. Each offset is asked for after the ones before it. */
function lineEndsIn(text: string): (offset: number) => "\n" | "\r\n" {
  const last = text.lastIndexOf("\n");
  let next = 0;
  return (offset) => {
    if (next !== -1 && next <= offset) next = text.indexOf("\n", offset);
    return text[(next === -1 ? last : next) - 1] === "\r" ? "\r\n" : "\n";
  };
}

function quote(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return `“${line.slice(0, QUOTED)}${line.length > QUOTED || text.trim().includes("\n") ? "…" : ""}”.`;
}
