/** What is to be written so that a folder goes over from one recorded state to another. */
import { IgnoreRules, isExcluded, type PlacedRules } from "../ignoring/rules";
import { folded } from "./case";
import { isLeftOut, type SnapshotStore, type StoredFile } from "./store";

const REGULAR = new Set(["100644", "100755"]);

/** What becomes of a file: `merged` keeps what was changed since the state was recorded, `conflict` stays as it is. */
export type Fate = "written" | "deleted" | "merged" | "conflict";

/** From one snapshot to another. */
export interface Leg {
  from: string;
  to: string;
}

/** `added` and `removed` are lines; undefined for what is no text. */
export interface Step {
  path: string;
  added: number | undefined;
  removed: number | undefined;
  fate: Fate;
  /** What the file is to be; undefined for one that goes or stays. */
  content: { mode: string; bytes: () => Promise<Buffer> } | undefined;
  /** What the folder has now. */
  there: StoredFile | undefined;
}

/** A file on its way: as a snapshot has it, or merged. */
type Version = StoredFile | { mode: string; merged: Buffer } | undefined;

/**
 * The steps that make the changes of each leg, one after the other, in a folder that is `now`; those that delete first.
 * What else was changed in the folder stays: in other files, and in the same ones where it can be merged. `hasOneCase`:
 * whether the folder ignores case. Throws `GitError`.
 */
export async function planned(store: SnapshotStore, legs: readonly Leg[], now: string, hasOneCase: boolean): Promise<Step[]> {
  const [changes, files] = await Promise.all([Promise.all(legs.map(({ from, to }) => store.changes(from, to))), store.files(now)]);
  const steps: Step[] = [];
  for (const path of new Set(changes.flatMap((each) => [...each.keys()]))) {
    const there = files.get(path);
    const fate = await fateOf(store, there, changes.flatMap((each) => each.get(path) ?? []));
    if (fate !== undefined) steps.push({ path, added: undefined, removed: undefined, there, ...fate });
  }
  const target = legs.at(-1)?.to;
  if (target === undefined || steps.length === 0) return [];
  const wanted = await store.files(target);
  if (hasOneCase) keepTwins(wanted, files, steps);
  await countLines(store, target, now, steps);
  return (await withoutExcluded(store, target, wanted, steps)).sort((one, other) => Number(other.fate === "deleted") - Number(one.fate === "deleted") || (one.path < other.path ? -1 : 1));
}

async function fateOf(store: SnapshotStore, there: StoredFile | undefined, changes: readonly { from: StoredFile | undefined; to: StoredFile | undefined }[]): Promise<Pick<Step, "fate" | "content"> | undefined> {
  let version: Version = there;
  for (const { from, to } of changes) {
    if (isSame(version, to)) continue;
    if (isLeftOut(from) || isLeftOut(to) || (version !== undefined && "id" in version && isLeftOut(version))) return { fate: "conflict", content: undefined };
    const next: Version = isSame(version, from) ? to : await merge(store, from, to, version);
    if (next === undefined && !isSame(version, from)) return { fate: "conflict", content: undefined };
    version = next;
  }
  if (isSame(version, there)) return undefined;
  if (version === undefined) return { fate: "deleted", content: undefined };
  const { mode } = version;
  if ("merged" in version) {
    const { merged } = version;
    return { fate: "merged", content: { mode, bytes: () => Promise.resolve(merged) } };
  }
  const recorded = version;
  return { fate: "written", content: { mode, bytes: () => store.content(recorded) } };
}

/** Undefined where they cannot be merged. */
async function merge(store: SnapshotStore, from: StoredFile | undefined, to: StoredFile | undefined, version: Version): Promise<Version> {
  if (from === undefined || to === undefined || version === undefined) return undefined;
  if (![from, to, version].every(({ mode }) => REGULAR.has(mode))) return undefined;
  const bytes = "merged" in version ? version.merged : await store.content(version);
  const merged = await store.merge(await store.content(from), await store.content(to), bytes);
  return merged && { mode: from.mode === to.mode ? version.mode : to.mode, merged };
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

function isSame(one: Version, other: StoredFile | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return "id" in one && one.id === other.id && one.mode === other.mode;
}
