/** A growing text in parts that are parsed: in time linear in the text, however long one block of it becomes. */
import { MOST_ELEMENTS, parse, settled, sizeOf } from "./parse";

/** About how many characters of a growing text are parsed anew at a time. */
const PIECE = 4000;
/** A longer end, all of one block, is parsed again when it is so many times as long. */
const GROWTH = 1.1;

export interface Growing {
  /** What will not change its meaning any more. */
  readonly pieces: readonly string[];
  /** The characters of the pieces. */
  readonly done: number;
  /** About how many elements the pieces become. */
  readonly size: number;
  /** What is parsed of the end, and what is shown as it is until then. */
  readonly rest: string;
  readonly tail: string;
}

export const NOTHING: Growing = { pieces: [], done: 0, size: 0, rest: "", tail: "" };

/** The parts of `text`, which goes on from that of `before`. What follows more elements than a page can show is not parsed. */
export function grown(before: Growing, text: string, settledIn = settled): Growing {
  const end = text.slice(before.done);
  if (before.size > MOST_ELEMENTS) return { ...before, rest: "", tail: end };
  if (end.length <= PIECE) return { ...before, rest: end, tail: "" };
  if (before.rest.length > PIECE && end.length < GROWTH * before.rest.length) return { ...before, tail: end.slice(before.rest.length) };
  const done = settledIn(end.slice(0, end.lastIndexOf("\n") + 1)); // the last line may still become part of a block
  const piece = end.slice(0, done);
  const pieces = done === 0 ? before.pieces : [...before.pieces, piece];
  return { pieces, done: before.done + done, size: before.size + sizeOf(parse(piece)), rest: end.slice(done), tail: "" };
}
