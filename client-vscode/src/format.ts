/** Tokens as the server writes them in its progress: `142k` for 142,310; small numbers stay whole. */
export function shortTokens(tokens: number): string {
  return tokens >= 10_000 ? `${Math.round(tokens / 1000)}k` : tokens.toLocaleString("en");
}

export function beforeAndAfter(before: number, after: number): string {
  return `${shortTokens(before)} → ${shortTokens(after)} tokens`;
}

/** `1 entry`, `2 entries`; `many` is given where an s does not do. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Control characters but tab and line feed, and characters that change the direction of text or separate without being seen. */
const CONTROLS = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff`;
/** Characters that show nothing: those for which Unicode has fonts show nothing, and the marks of annotations. */
const HIDDEN = String.raw`\p{Default_Ignorable_Code_Point}\ufff9-\ufffb`;
const SEPARATING = new RegExp(`[${CONTROLS}]`, "gu");
const INVISIBLE = new RegExp(`[${CONTROLS}${HIDDEN}]`, "gu");

/** Text from outside as a person can check it: each character that does not show is replaced by its code, `<U+202E>`. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** `visible` on one line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "<U+000A>");
}

/** Text without the characters that do not show. */
export function withoutHidden(text: string): string {
  return text.replace(INVISIBLE, "");
}

/** Characters of a notification: VS Code cuts longer ones, and what it shows of them is not ours to choose. */
const LONGEST = 1000;

/** Text that no part of VS Code takes for a link or an icon. */
export function plain(text: string): string {
  const shown = visible(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  return shown.replaceAll("](", "] (").replaceAll("$(", "$ (");
}

/** Text for a place that has one line: without breaks and control characters, at most `length` characters. */
export function oneLine(text: string, length = 120): string {
  const line = text.replace(SEPARATING, " ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

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

/** `Title (fork)` or `Title (fork 2)`: the first that is not taken. */
export function forkName(title: string, taken: ReadonlySet<string>): string {
  const stem = title.replace(/ \(fork(?: \d+)?\)$/, "");
  for (let count = 1; ; count += 1) {
    const name = `${stem} (fork${count === 1 ? "" : ` ${count}`})`;
    if (!taken.has(name)) return name;
  }
}
