/** What a branch that is left has changed in the files, and what of that is on the disk when the other one is entered. */
import { join } from "node:path";

import type { BranchFile } from "../protocol.gen";
import type { PlacedDifference, PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { StoredFile } from "../snapshots/store";

/** Files that the protocol takes. */
const MOST_FILES = 10_000;

/** States of the files, where the branch began and ended, and now. */
interface BranchSpan {
  begin: string;
  end: string;
  now: string;
}

/** `steps` are those that will be taken from now on, towards the other branch. Throws `GitError`. */
export async function leftFiles(snapshots: Pick<WorkspaceSnapshots, "differences">, { begin, end, now }: BranchSpan, steps: readonly PlacedStep[]): Promise<BranchFile[]> {
  const [changed, since] = await Promise.all([snapshots.differences(begin, end), snapshots.differences(end, now)]);
  const later = new Map(since.map((each) => [each.file, each.change.to]));
  const fates = new Map(steps.map(({ folder, path, fate }) => [join(folder, path), fate]));
  return changed.slice(0, MOST_FILES).map((each): BranchFile => {
    const { shown, added, removed, change } = each;
    const kind = change.from === undefined ? "created" : change.to === undefined ? "deleted" : "changed";
    return { path: shown, kind, ...added !== undefined && { added }, ...removed !== undefined && { removed }, onDisk: onDisk(each, fates.get(each.file), later) };
  });
}

function onDisk({ file, change }: PlacedDifference, fate: PlacedStep["fate"] | undefined, later: ReadonlyMap<string, StoredFile | undefined>): "all" | "part" | "none" {
  if (fate === "written" || fate === "deleted") return "none";
  if (fate === "merged") return "part";
  if (!later.has(file)) return "all";
  const there = later.get(file);
  return there?.id === change.from?.id && there?.mode === change.from?.mode ? "none" : "part";
}
