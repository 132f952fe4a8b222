/** Changes of files as patches that can be taken back. */
import { createHash } from "node:crypto";

import { applyPatch, formatPatch, parsePatch, reversePatch, type StructuredPatch } from "diff";

import type { FileChange } from "./file-change";
import { patchBetween } from "./patch";

/** Lines that are looked at for the places of a patch's hunks: a second's work. A patch of our own names the places. */
const MOST_LINES = 5_000_000;

export function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** `before` is null for a file that did not exist. */
export function fileChangeOf(path: string, before: string | null, after: string): FileChange {
  return { path, patch: patchOf(path, before ?? "", after), before: before === null ? null : hash(before), after: hash(after) };
}

export function patchOf(path: string, before: string, after: string): string {
  return formatPatch(patchBetween(path.replace(/[\r\n\t]/g, " "), before, after));
}

/**
 * The content before the change, given what the file holds now (null: there is no file). Later changes elsewhere in
 * the file are kept. Undefined where the change cannot be taken back: its lines are not there any more, or not found soon.
 */
export function takenBack(change: FileChange, now: string | null): { content: string | null } | undefined {
  if (now === null) return undefined;
  if (change.before === null) return hash(now) === change.after ? { content: null } : undefined;
  const [patch] = parsePatch(change.patch);
  if (patch === undefined) return undefined;
  const content = applied(reversePatch(patch), now);
  if (content === false) return undefined;
  const wasExact = hash(now) === change.after;
  return !wasExact || hash(content) === change.before ? { content } : undefined;
}

function applied(patch: StructuredPatch, text: string): string | false {
  let lines = 0;
  const compareLine = (_number: number, line: string, _operation: string, wanted: string) => {
    if (++lines > MOST_LINES) throw new Error("The places of the hunks are too far away.");
    return line === wanted;
  };
  try {
    return applyPatch(text, patch, { fuzzFactor: 0, autoConvertLineEndings: false, compareLine });
  } catch (error) {
    if (lines > MOST_LINES) return false;
    throw error;
  }
}
