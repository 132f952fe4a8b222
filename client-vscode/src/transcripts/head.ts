import { open } from "node:fs/promises";

/** Bytes at the beginning of a transcript that are read to list it: Codex begins with its whole system prompt. A guess. */
const HEAD_BYTES = 256 * 1024;
const LONGEST_TITLE = 120;

/** What the beginning of a transcript contains: where the agent worked, and what it was asked first. */
export interface Head {
  cwd: string;
  title: string;
}

/** Nothing where the file is no transcript. Throws where it cannot be read. */
export async function headOf(file: string): Promise<Head | undefined> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return headIn(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** The last line of `text` may be cut off. */
export function headIn(text: string): Head | undefined {
  const cwd = workingFolder(text);
  if (cwd === undefined) return undefined;
  for (const line of text.split("\n")) {
    const title = firstLine(requestIn(parsed(line)));
    if (title !== undefined) return { cwd, title };
  }
  return { cwd, title: "" };
}

/** Quotes within a string of JSON are escaped, so no message can look like this property. */
function workingFolder(text: string): string | undefined {
  const [, written] = /"cwd"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  const cwd = written === undefined ? undefined : parsed(written);
  return typeof cwd === "string" && cwd !== "" ? cwd : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

interface Spoken {
  role?: unknown;
  content?: unknown;
}

/** What a user says in a record: of Claude Code and Pi in `message`, of Codex in `payload`. */
function requestIn(record: unknown): string | undefined {
  if (typeof record !== "object" || record === null || ("isMeta" in record && record.isMeta === true)) return undefined;
  const { message, payload } = record as { message?: Spoken | null; payload?: Spoken | null };
  const spoken = [message, payload].find((each) => each?.role === "user");
  if (typeof spoken?.content === "string") return spoken.content;
  if (!Array.isArray(spoken?.content)) return undefined;
  const texts = (spoken.content as { text?: unknown }[]).map(({ text }) => text);
  return texts.find((text): text is string => typeof text === "string" && !isPreface(text));
}

/** What an agent puts in front of the first request by itself. */
function isPreface(text: string): boolean {
  return /^\s*(<|# AGENTS\.md)/.test(text);
}

function firstLine(text: string | undefined): string | undefined {
  if (text === undefined || isPreface(text)) return undefined;
  const [line = ""] = text.trim().split("\n");
  return line === "" ? undefined : line.slice(0, LONGEST_TITLE);
}
