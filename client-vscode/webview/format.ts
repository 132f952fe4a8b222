/** Times and tool calls in few words. */
import { oneLine } from "../src/format";

export { ago } from "../src/format";

/** Arguments that say in one line what a call is about, the most telling first. */
const TELLING = ["command", "path", "file_path", "filePath", "pattern", "query", "url", "uri", "name", "description", "prompt"];
const LONGEST_LINE = 200;

/** What a tool call is about, in one line. */
export function callSummary(given: Record<string, unknown>): string {
  const telling = TELLING.map((name) => given[name]).find((value) => typeof value === "string" && value !== "");
  const values = Object.keys(given).length === 0 ? "" : JSON.stringify(given);
  const line = typeof telling === "string" ? telling : values;
  return oneLine(line, LONGEST_LINE);
}
