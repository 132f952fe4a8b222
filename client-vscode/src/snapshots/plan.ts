/** What is to be written so that a folder goes over from one recorded state to another. */
import { IgnoreRules, isExcluded, type PlacedRules } from "../ignoring/rules";
import { folded } from "./case";
import { blobId } from "./git";
import { type Change, isLeftOut, isSame, type SnapshotStore, type StoredFile } from "./store";

const REGULAR = new Set(["100644", "100755"]);

/** What becomes of a file: `merged` keeps what was changed since the state was recorded, `conflict` stays as it is. */
export type Fate = "written" | "deleted" | "merged" | "conflict";

/** `id`: what is stored already. */
interface Content {
  mode: string;
  id?: string;
  bytes: () => Promise<Buffer>;
}

/** `added` and `removed` are lines; undefined for what is no text. */
export interface Step {
  path: string;
  added: number | undefined;
  removed: number | undefined;
  fate: Fate;
  /** What the file is to be; undefined for one that goes or stays. */
  content: Content | undefined;
  /** What the folder has now. */
  there: StoredFile | undefined;
}

/**
 * The steps that make the changes between two snapshots in a folder that is `now`; those that delete first. What else was
 * changed in the folder stays: in other files, and in the same ones where it can be merged. `hasOneCase`: whether the
 * folder ignores case. Throws `GitError`.
 */
export async function planned(store: SnapshotStore, from: string, to: string, now: string, hasOneCase: boolean): Promise<Step[]> {
  const [changes, files] = await Promise.all([store.changes(from, to), store.files(now)]);
  const steps: Step[] = [];
  for (const [path, change] of changes) {
    const there = files.get(path);
    const fate = await fateOf(store, there, change);
    if (fate !== undefined) steps.push({ path, added: undefined, removed: undefined, there, ...fate });
  }
  if (steps.length === 0) return [];
  const wanted = await store.files(to);
  if (hasOneCase) keepTwins(wanted, files, steps);
  await countLines(store, to, now, steps);
  return (await withoutExcluded(store, to, wanted, steps)).sort((one, other) => Number(other.fate === "deleted") - Number(one.fate === "deleted") || (one.path < other.path ? -1 : 1));
}

async function fateOf(store: SnapshotStore, there: StoredFile | undefined, { from, to }: Change): Promise<Pick<Step, "fate" | "content"> | undefined> {
  if (isSame(there, to)) return undefined;
  if ([from, to, there].some(isLeftOut)) return { fate: "conflict", content: undefined };
  if (!isSame(there, from)) return merge(store, from, to, there);
  if (to === undefined) return { fate: "deleted", content: undefined };
  return { fate: "written", content: { ...to, bytes: () => store.content(to) } };
}

/** Undefined where nothing is left to do. */
async function merge(store: SnapshotStore, from: StoredFile | undefined, to: StoredFile | undefined, there: StoredFile | undefined): Promise<Pick<Step, "fate" | "content"> | undefined> {
  const stays = { fate: "conflict", content: undefined } as const;
  if (from === undefined || to === undefined || there === undefined) return stays;
  if (![from, to, there].every(({ mode }) => REGULAR.has(mode))) return stays;
  const merged = await store.merge(await store.content(from), await store.content(to), await store.content(there));
  if (merged === undefined) return stays;
  const mode = from.mode === to.mode ? there.mode : to.mode;
  if (isSame({ mode, id: blobId(merged) }, there)) return undefined;
  return { fate: "merged", content: { mode, bytes: () => Promise.resolve(merged) } };
}

/** A file stays that may be one of the state to come, whose name it has in another case. */
function keepTwins(wanted: ReadonlyMap<string, StoredFile>, now: ReadonlyMap<string, StoredFile>, steps: readonly Step[]): void {
  const written = new Set(steps.filter(({ content }) => content !== undefined).map(({ path }) => path));
  const missing = new Set([...wanted.keys()].filter((path) => !now.has(path) && !written.has(path)).map(folded));
  for (const step of steps) if (step.fate === "deleted" && missing.has(folded(step.path))) step.fate = "conflict";
}

/** A file that a state does not have may have been there, ignored: it stays. */
async function withoutExcluded(store: SnapshotStore, target: string, wanted: ReadonlyMap<string, StoredFile>, steps: Step[]): Promise<Step[]> {
  if (!steps.some(({ fate }) => fate === "deleted")) return steps;
  const rules: PlacedRules[] = [];
  for (const [path, file] of wanted) {
    if (/(?:^|\/)\.gitignore$/.test(path) && REGULAR.has(file.mode)) rules.push({ folder: path.replace(/\/?\.gitignore$/, ""), rules: IgnoreRules.of((await store.content(file)).toString()) });
  }
  rules.sort((one, other) => one.folder.length - other.folder.length);
  const outside = ["", ...(await store.excludes(target))].map((patterns): PlacedRules => ({ folder: "", rules: IgnoreRules.of(patterns) }));
  return steps.filter(({ fate, path }) => fate !== "deleted" || !outside.some((each) => isExcluded(path, [each, ...rules])));
}

/** Lines between what is there and what is recorded. */
async function countLines(store: SnapshotStore, target: string, now: string, steps: readonly Step[]): Promise<void> {
  const counts = new Map((await store.differences(now, target)).map((each) => [each.path, each]));
  for (const step of steps) {
    const counted = counts.get(step.path);
    if (counted !== undefined && step.fate !== "conflict") Object.assign(step, { added: counted.added, removed: counted.removed });
  }
}
