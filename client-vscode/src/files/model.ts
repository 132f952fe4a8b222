import { counted, oneLine } from "../format";
import type { FileRecord, FilesResult, GitUpdateRecord } from "../protocol.gen";

export type Kind = "modified" | "read" | "deleted";

export interface TrackedFile {
  kind: Kind;
  path: string;
  /** How often, by whom, and the earlier name: `2 writes · 1 read · tool, editor`. */
  description: string;
}

export interface FileGroup {
  kind: Kind;
  title: string;
  files: TrackedFile[];
}

/** Files that git replaced at once. They are no work of the conversation. */
export interface GitUpdate {
  kind: "git";
  /** `Checked out feature-x, 400 files` */
  title: string;
  commit: string;
}

/** The files of every page that `page` gives. */
export async function allFiles(page: (cursor: string | null) => Promise<FilesResult>): Promise<FilesResult> {
  const all = await page(null);
  for (let cursor = all.nextCursor ?? null; cursor !== null;) {
    const next = await page(cursor);
    all.modifiedFiles = all.modifiedFiles.concat(next.modifiedFiles);
    all.readFiles = all.readFiles.concat(next.readFiles);
    all.deletedFiles = all.deletedFiles.concat(next.deletedFiles);
    all.records = all.records.concat(next.records);
    cursor = next.nextCursor ?? null;
  }
  return all;
}

const TITLES: Record<Kind, string> = { modified: "Modified", read: "Read", deleted: "Deleted" };

/** The files by what became of them; groups without files are left out. */
export function fileGroups({ modifiedFiles, readFiles, deletedFiles, records }: FilesResult): FileGroup[] {
  const byPath = new Map(records.map((record) => [record.path, record]));
  const lists: [Kind, string[]][] = [
    ["modified", modifiedFiles],
    ["read", readFiles],
    ["deleted", deletedFiles],
  ];
  return lists
    .filter(([, paths]) => paths.length > 0)
    .map(([kind, paths]) => ({
      kind,
      title: TITLES[kind],
      files: paths.map((path) => ({ kind, path, description: described(byPath.get(path)) })),
    }));
}

const ACTIONS: Record<GitUpdateRecord["action"], string> = {
  checkout: "Checked out",
  merge: "Merged",
  pull: "Pulled",
  rebase: "Rebased",
  reset: "Reset to",
};

/** What git replaced, the newest first. */
export function gitUpdates({ gitUpdates: updates = [] }: FilesResult): GitUpdate[] {
  return updates.toReversed().map(({ action, target, commit, files }) => {
    const named = action === "pull" ? "" : ` ${oneLine(target ?? commit.slice(0, 8))}`;
    return { kind: "git", title: `${ACTIONS[action]}${named}, ${counted(files, "file")}`, commit };
  });
}

function described(record: FileRecord | undefined): string {
  if (record === undefined) return "";
  const { reads, writes, sources, renamedFrom } = record;
  return [
    writes > 0 ? counted(writes, "write") : "",
    reads > 0 ? counted(reads, "read") : "",
    sources.join(", "),
    renamedFrom === undefined ? "" : `was ${renamedFrom}`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
