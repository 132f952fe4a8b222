import * as v from "valibot";

import { ToolError } from "../errors";
import { described, path, tool } from "../tool";
import { readablePlace } from "./places";

/** Lines and characters of one reading. Guesses: the lines are what other agents read, the characters about 15,000 tokens. */
const MOST_LINES = 2000;
const MOST_CHARACTERS = 60_000;

const schema = v.object({
  path,
  offset: v.optional(described(v.pipe(v.number(), v.integer(), v.minValue(1)), "The first line to read, counted from 1.")),
  limit: v.optional(described(v.pipe(v.number(), v.integer(), v.minValue(1)), `How many lines to read, at most ${MOST_LINES}.`)),
});

export const readFile = tool(
  "read_file",
  `Reads a text file of the workspace, at most ${MOST_LINES} lines at a time. Unsaved changes in the editor are included.`,
  schema,
  false,
  async ({ path: given, offset = 1, limit = MOST_LINES }, call) => {
    const place = await readablePlace(given, "read_file", "Read", call);
    const text = await call.host.read(place.path);
    if (text === null) throw new ToolError(`There is no file ${place.shown}.`);
    return { text: excerpt(text, offset, Math.min(limit, MOST_LINES)) };
  },
);

/** Lines of `text` from `offset` on, with a note where there are more. */
export function excerpt(text: string, offset: number, limit: number): string {
  if (text === "") return "[The file is empty.]";
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length) throw new ToolError(`The file has ${lines.length} lines.`);
  const shown: string[] = [];
  let size = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    size += line.length + 1;
    if (size > MOST_CHARACTERS && shown.length > 0) break;
    shown.push(line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)} [… ${line.length - MOST_CHARACTERS} characters more in this line …]` : line);
  }
  const last = offset - 1 + shown.length;
  const note = last < lines.length ? `\n\n[Lines ${offset} to ${last} of ${lines.length}. Read on with offset ${last + 1}.]` : "";
  return shown.join("\n") + note;
}
