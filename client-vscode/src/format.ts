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

/** Text for a place that has one line: without breaks and control characters, at most `length` characters. */
export function oneLine(text: string, length = 120): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}
