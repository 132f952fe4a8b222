/** Changes of files as patches that can be taken back. */
import { createHash } from "node:crypto";

import { applyPatch, formatPatch, parsePatch, reversePatch } from "diff";

import type { FileChange } from "./file-change";
import { patchBetween } from "./patch";

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
 * the file are kept. Undefined where the change cannot be taken back: its lines are not there any more.
 */
export function takenBack(change: FileChange, now: string | null): { content: string | null } | undefined {
  if (now === null) return undefined;
  if (change.before === null) return hash(now) === change.after ? { content: null } : undefined;
  const [patch] = parsePatch(change.patch);
  if (patch === undefined) return undefined;
  const content = applyPatch(now, reversePatch(patch), { fuzzFactor: 0, autoConvertLineEndings: false });
  if (content === false) return undefined;
  const wasExact = hash(now) === change.after;
  return !wasExact || hash(content) === change.before ? { content } : undefined;
}
