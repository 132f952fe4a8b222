import { patchBetween } from "../agent/patch";
import type { ApprovalDetail } from "./approval";

/** The change of one file as a detail of an approval. `before` is undefined for a file that does not exist yet. */
export function diffDetail(path: string, before: string | undefined, after: string): Extract<ApprovalDetail, { kind: "diff" }> {
  const hunks = patchBetween(path, before ?? "", after).hunks.map(({ oldStart, newStart, lines }) => ({ oldStart, newStart, lines }));
  return { kind: "diff", path, isNew: before === undefined, hunks };
}
