/** How the page tells times and tool calls in few words. */
import { oneLine } from "../src/format";

const UNITS: readonly (readonly [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [7 * 86_400, 86_400, "day"],
  [30 * 86_400, 7 * 86_400, "week"],
  [365 * 86_400, 30 * 86_400, "month"],
  [Infinity, 365 * 86_400, "year"],
];

/** `3 hours ago`; `now` and the result of `Date.now` are milliseconds. */
export function ago(timestamp: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(timestamp)) / 1000);
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return "just now";
  const [, length, unit] = UNITS.find(([limit]) => seconds < limit) ?? [0, 365 * 86_400, "year" as const];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(seconds / length), unit);
}

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
