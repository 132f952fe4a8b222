/** What is being completed where the cursor is. */
export type Trigger = { kind: "mention"; start: number; query: string } | { kind: "slash"; query: string };

export function triggerAt(text: string, cursor: number): Trigger | undefined {
  const before = text.slice(0, cursor);
  const slash = /^\/(\w*)$/.exec(before);
  if (slash !== null) return { kind: "slash", query: slash[1] ?? "" };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  const query = mention?.[1];
  return query === undefined ? undefined : { kind: "mention", start: cursor - query.length - 1, query };
}

/** The command of a text that is one, with what follows it. */
export function slashCommand(text: string): { command: string; argument: string } | undefined {
  const match = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return match === null ? undefined : { command: match[1] ?? "", argument: match[2] ?? "" };
}
