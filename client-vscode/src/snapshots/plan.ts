/** What is to be written so that a folder goes over from one recorded state to another. */
import { applyPatch, structuredPatch } from "diff";

import { type Difference, type SnapshotStore, type StoredFile } from "./store";

const REGULAR = new Set(["100644", "100755"]);
/** Bytes of a file that is merged; a larger one is a conflict. A guess: more than a source file has. */
const MOST_MERGED = 1_000_000;

/** What becomes of a file: `merged` keeps what was changed since the state was recorded, `conflict` stays as it is. */
export type Fate = "written" | "deleted" | "merged" | "conflict";

export interface Step extends Difference {
  fate: Fate;
  /** What the file is to be; undefined for one that goes or stays. */
  content: { mode: string; bytes: () => Promise<Buffer> } | undefined;
  /** Whether the folder has the file now. */
  isThere: boolean;
}

/**
 * The steps from `base` to `target` in a folder that is `now`, by path. What was changed between `base` and `now` stays:
 * in files in which the two states do not differ, and else where it can be merged. Throws `GitError`.
 */
export async function planned(store: SnapshotStore, base: string, target: string, now: string): Promise<Step[]> {
  const [changes, since, lines] = await Promise.all([store.changes(base, target), store.changes(base, now), store.differences(now, target)]);
  const counts = new Map(lines.map((each) => [each.path, each]));
  const steps: Step[] = [];
  for (const [path, { from, to }] of changes) {
    const there = since.has(path) ? since.get(path)?.to : from;
    if (isSame(there, to)) continue;
    const { added, removed } = counts.get(path) ?? { added: undefined, removed: undefined };
    const step = { path, added, removed, isThere: there !== undefined };
    if (isSame(there, from)) {
      steps.push({ ...step, fate: to === undefined ? "deleted" : "written", content: to && { mode: to.mode, bytes: () => store.content(to) } });
    } else {
      const merged = await merge(store, from, to, there);
      steps.push({ ...step, fate: merged === undefined ? "conflict" : "merged", content: merged });
    }
  }
  return steps;
}

/** The change from `from` to `to`, made in what is there; undefined where it was changed in the same lines. */
async function merge(store: SnapshotStore, ...files: [StoredFile | undefined, StoredFile | undefined, StoredFile | undefined]): Promise<Step["content"]> {
  const texts: string[] = [];
  for (const file of files) {
    const text = file === undefined || !REGULAR.has(file.mode) ? undefined : textOf(await store.content(file));
    if (text === undefined) return undefined;
    texts.push(text);
  }
  const [from = "", to = "", there = ""] = texts;
  const patch = structuredPatch("", "", from, to, undefined, undefined, { context: 3 });
  const merged = applyPatch(there, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
  if (merged === false) return undefined;
  return { mode: files[2]?.mode ?? "100644", bytes: () => Promise.resolve(Buffer.from(merged)) };
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > MOST_MERGED || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isSame(one: StoredFile | undefined, other: StoredFile | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode;
}
