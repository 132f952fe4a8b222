/** The files as they were before a number of edits. */
import { takenBack } from "./change";
import type { FileChange } from "./file-change";

export interface Checkpoint {
  /** What each file is to hold, by the path of its edits; null for one that is to go. */
  files: ReadonlyMap<string, string | null>;
  /** Paths that others have changed since in the same lines: they stay as they are. */
  conflicts: readonly string[];
}

/** Takes back `changes`, oldest first as they were made. `read` gives what a file holds now. */
export async function checkpointBefore(changes: readonly FileChange[], read: (path: string) => Promise<string | null>): Promise<Checkpoint> {
  const files = new Map<string, string | null>();
  const conflicts = new Set<string>();
  for (const change of changes.toReversed()) {
    const { path } = change;
    if (conflicts.has(path)) continue;
    const now = files.has(path) ? (files.get(path) ?? null) : await read(path);
    const before = takenBack(change, now);
    if (before === undefined) {
      conflicts.add(path);
      files.delete(path);
    } else {
      files.set(path, before.content);
    }
  }
  return { files, conflicts: [...conflicts] };
}
