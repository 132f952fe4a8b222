import { structuredPatch } from "diff";

import type { ApprovalDetail } from "./approval";

/** Unchanged lines that are shown around a change; Git's own default. */
const CONTEXT_LINES = 3;
/** A diff that takes longer, in milliseconds, is given up and the whole new text is shown; a guess. */
const TIMEOUT_MS = 2000;

/** The change of one file as a detail of an approval. `before` is undefined for a file that does not exist yet. */
export function diffDetail(path: string, before: string | undefined, after: string): Extract<ApprovalDetail, { kind: "diff" }> {
  const old = before ?? "";
  // Without a result the texts differ too much for the time there is.
  const patch = structuredPatch(path, path, old, after, undefined, undefined, { context: CONTEXT_LINES, timeout: TIMEOUT_MS });
  const hunks = patch === undefined ? [replaced(old, after)] : patch.hunks.map(({ oldStart, newStart, lines }) => ({ oldStart, newStart, lines }));
  return { kind: "diff", path, isNew: before === undefined, hunks };
}

function replaced(before: string, after: string): { oldStart: number; newStart: number; lines: string[] } {
  const lines = [...before.split("\n").map((line) => `-${line}`), ...after.split("\n").map((line) => `+${line}`)];
  return { oldStart: 1, newStart: 1, lines };
}
