import { existsSync } from "node:fs";
import { lstat, rm, stat, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";

import { isPartOfRepository, isSecret } from "../agent/sensitive";
import { folded, ignoresCase, WrittenNames } from "./case";
import { deleteUnreferenced, merged, outcome, readable, storeAnew } from "./contents";
import { excludesAbove } from "./excludes";
import { GitError, HiddenGit, listOf, namesOf } from "./git";
import type { Step } from "./plan";
import { conversationsOf, deleteReferences, digest, EXCLUDES, linesOf, namespace, referenceNaming, shareReferences } from "./references";
import { isBeside } from "./write";

/** What a snapshot may cost. */
export interface Limits {
  /** Bytes of one file; a larger one is left out. */
  file: number;
  /** Bytes that are new since the last snapshot; with more there is no snapshot. */
  added: number;
  /** Files that are new or changed; with more there is no snapshot. */
  files: number;
  /** Milliseconds of each command of Git. */
  time: number;
}

/** Milliseconds that packing a repository may take. A guess: ten times what a large one needs. */
const TIDYING = 600_000;
/** Loose objects above which they are packed; Git's own default is 6,700. */
const MOST_LOOSE = 5000;
/**
 * Files from which on Git writes their contents into one pack instead of a file for each: making 10,000 files takes most
 * of a first snapshot's time. A pack of fewer would have to be packed again soon.
 */
const MANY = 500;
/** Git packs what it takes for large; it cannot do that while it writes objects in batches. */
const PACKED = { "core.bigFileThreshold": "1", "pack.compression": "1", "core.fsyncMethod": "fsync" };
/** The first version whose `update-index` writes one pack, and not one for each file. */
const PACKS = [2, 38] as const;
/** Of a file that is there and was too large to be recorded: with the mode of a submodule Git looks for no content. */
const LEFT_OUT: StoredFile = { mode: "160000", id: "1".repeat(40) };

/** Guesses: more than a project's sources, and a wait that one still takes for a hang-up. */
export const LIMITS: Limits = { file: 5_000_000, added: 200_000_000, files: 50_000, time: 20_000 };

/** By folder, relative, whether its files are left out. */
type Folders = Map<string, Promise<boolean>>;

/** How a file of one snapshot differs from the other. `added` and `removed` are lines; undefined for what is no text. */
export interface Difference {
  path: string;
  added: number | undefined;
  removed: number | undefined;
}

/** A file of a snapshot: its mode as Git writes it, and the id of its content. */
export interface StoredFile {
  mode: string;
  id: string;
}

/** A file in two snapshots; undefined in one that does not have it. */
export interface Change {
  from: StoredFile | undefined;
  to: StoredFile | undefined;
}

export function isSame(one: StoredFile | undefined, other: StoredFile | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode;
}

/** Whether a snapshot has a file without its content. */
export function isLeftOut(file: StoredFile | undefined): boolean {
  return file?.mode === LEFT_OUT.mode;
}

/**
 * The states of one folder, in a hidden Git repository outside of it. A snapshot is named by the id of its tree: the
 * same state has the same name and is stored once. Left out are files that are ignored, secret or left over from a
 * replacement, whatever has to do with `.git`, repositories within the folder, and names that are not UTF-8; of those
 * that are too large only the name is recorded. Links are stored as links.
 */
export class SnapshotStore {
  readonly #git: HiddenGit;
  #prepared: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isIndexChecked = false;
  /** References that were made already. */
  readonly #referenced = new Set<string>();
  /** Once in the lifetime of a store its objects are packed, where they are many. */
  #tidied: Promise<void> | undefined;

  /** `storage` is a folder of the extension, `folders` are those of the workspace; all are absolute. */
  constructor(
    storage: string,
    private readonly folder: string,
    private readonly limits: Limits,
    folders: () => readonly string[] = () => [folder],
  ) {
    this.#git = new HiddenGit(join(storage, `${digest(folder)}.git`), folder, limits.time, folders);
  }

  /** Records the folder as it is, and keeps that for the conversation. Throws `GitError`. */
  take(conversationId: string): Promise<string> {
    return this.#inOrder(async () => {
      const patterns = await this.#record();
      const tree = await this.#idOf(["write-tree"]).catch(async () => {
        // Of a file that did not change the content is gone.
        await rm(this.#index, { force: true });
        await this.#record();
        return this.#idOf(["write-tree"]);
      });
      await this.#keep(`${namespace(conversationId)}/${tree}`, () => tree);
      await this.#keep(referenceNaming(conversationId), () => tree);
      if (patterns.trim() !== "") await this.#keep(`${namespace(conversationId)}/${EXCLUDES}/${tree}/${digest(patterns)}`, () => this.#idOf(["hash-object", "-w", "--stdin"], patterns));
      this.#tidied ??= this.#tidy();
      return tree;
    });
  }

  /** The snapshot that steps make of one, kept for the conversation; a file that is another one there stays, unless `replaces`. Throws `GitError`. */
  outcome(conversationId: string, snapshot: string, steps: readonly Step[], replaces = false): Promise<string> {
    return this.#inOrder(async () => {
      const files = await this.files(snapshot);
      const tree = await outcome(this.#git, id(snapshot), steps.filter(({ path, there }) => replaces || isSame(files.get(path), there)));
      await this.#keep(`${namespace(conversationId)}/${tree}`, () => tree);
      return tree;
    });
  }

  /** Records the files ahead of the first snapshot, which then looks for what has changed alone. Throws `GitError`. */
  async readAhead(): Promise<void> {
    await this.#inOrder(() => this.#record());
  }

  /** The files in which two snapshots differ. Throws `GitError`. */
  async differences(from: string, to: string): Promise<Difference[]> {
    if (from === to) return [];
    await this.#prepare();
    const printed = await this.#git.run(["diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", id(from), id(to)]);
    return namesOf(printed).map((line) => {
      const [added = "", removed = "", ...path] = line.split("\t");
      return { path: path.join("\t"), added: count(added), removed: count(removed) };
    });
  }

  /** What two snapshots have of each file that differs. Throws `GitError`. */
  async changes(from: string, to: string): Promise<Map<string, Change>> {
    const changes = new Map<string, Change>();
    if (from === to) return changes;
    await this.#prepare();
    const printed = namesOf(await this.#git.run(["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", id(from), id(to)]));
    for (let at = 0; at + 1 < printed.length; at += 2) {
      const [fromMode = "", toMode = "", fromId = "", toId = ""] = (printed[at] ?? "").slice(1).split(" ");
      changes.set(printed[at + 1] ?? "", { from: stored(fromMode, fromId), to: stored(toMode, toId) });
    }
    return changes;
  }

  /** Every file of a snapshot. Throws `GitError`. */
  async files(snapshot: string): Promise<Map<string, StoredFile>> {
    await this.#prepare();
    const printed = namesOf(await this.#git.run(["ls-tree", "-r", "-z", "--full-tree", id(snapshot)]));
    return new Map(printed.map((line) => {
      const at = line.indexOf("\t");
      const [mode = "", , content = ""] = line.slice(0, at).split(" ");
      return [line.slice(at + 1), { mode, id: content }];
    }));
  }

  /** What held from outside of the folder each time that this was recorded: patterns, a text for each. Throws `GitError`. */
  async excludes(snapshot: string): Promise<string[]> {
    await this.#prepare();
    const objects = await linesOf(this.#git, ["for-each-ref", "--format=%(objectname)", `refs/coppice/*/${EXCLUDES}/${id(snapshot)}/*`]);
    return Promise.all([...new Set(objects)].map(async (each) => (await this.#git.run(["cat-file", "blob", id(each)])).toString()));
  }

  /** The bytes of a file, or where a link leads. Throws `GitError`. */
  async content(file: StoredFile): Promise<Buffer> {
    await this.#prepare();
    return this.#git.run(["cat-file", "blob", id(file.id)]);
  }

  /** Which of these contents can be read and are right. The others may be damaged, or Git did not answer. */
  async readable(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#prepare().then(() => readable(this.#git, ids), () => new Set());
  }

  /** Stores a content that may be there and damaged. Throws `GitError`. */
  async storeAnew(bytes: Uint8Array): Promise<void> {
    await storeAnew(this.#git, bytes);
  }

  /** The change from `from` to `to`, made in `there`; undefined where both changed the same lines. Throws `GitError`. */
  async merge(from: Buffer, to: Buffer, there: Buffer): Promise<Buffer | undefined> {
    await this.#prepare();
    return merged(this.#git, from, to, there);
  }

  /** Keeps for a conversation what another one has, until both are forgotten. Throws `GitError`. */
  async share(conversationId: string, otherId: string): Promise<void> {
    if (existsSync(this.#git.repository)) await this.#inOrder(() => shareReferences(this.#git, conversationId, otherId));
  }

  /** The ids of the conversations that have snapshots here. Throws `GitError`. */
  async conversations(): Promise<string[]> {
    return existsSync(this.#git.repository) ? this.#inOrder(() => conversationsOf(this.#git)) : [];
  }

  /** Forgets the snapshots of conversations; what no other has is deleted. Throws `GitError`. */
  async forget(conversationIds: readonly string[]): Promise<void> {
    if (!existsSync(this.#git.repository)) return;
    await this.#inOrder(async () => {
      if (!(await deleteReferences(this.#git, conversationIds))) return;
      this.#referenced.clear();
      await deleteUnreferenced(this.#git, TIDYING);
    });
  }

  /** Brings the index to what the folder has; gives the patterns from outside by which files were left out. */
  async #record(): Promise<string> {
    await this.#checkIndex();
    const patterns = await excludesAbove(this.folder);
    await writeFile(this.#excludes, patterns);
    await this.#update(["--force-remove", "--stdin"], await this.#opened());
    const { gone, there, large } = await this.#changed();
    await this.#update(["--force-remove", "--stdin"], gone);
    // A file that has vanished since it was listed is none.
    await this.#update(["--add", "--remove", "--stdin"], there, there.length >= MANY && (await this.#git.isAtLeast(...PACKS)) ? PACKED : {});
    await this.#update(["--index-info"], large.map((path) => `${LEFT_OUT.mode} ${LEFT_OUT.id}\t${path}`));
    return patterns;
  }

  async #update(how: readonly string[], names: readonly string[], more: Record<string, string> = {}): Promise<void> {
    if (names.length > 0) await this.#git.run(["update-index", "-z", ...how], listOf(names), { more });
  }

  /** The id of the object that a command writes. */
  async #idOf(command: readonly string[], input = ""): Promise<string> {
    return (await this.#git.run(command, input)).toString().trim();
  }

  /** Keeps an object from being pruned. It is written where it is not kept yet: what was written before may be gone. */
  async #keep(reference: string, write: () => string | Promise<string>): Promise<void> {
    if (this.#referenced.has(reference)) return;
    await this.#freeLock(reference);
    await this.#git.run(["update-ref", reference, await write()]);
    this.#referenced.add(reference);
  }

  /** Files that were too large to be recorded and are folders now: Git would look for nothing in them. */
  async #opened(): Promise<string[]> {
    const large = namesOf(await this.#git.run(["ls-files", "-z", "--stage"])).flatMap((line) => (line.startsWith(LEFT_OUT.mode) ? [line.slice(line.indexOf("\t") + 1)] : []));
    const states = await Promise.all(large.map((path) => lstat(join(this.folder, path)).catch(() => undefined)));
    return large.filter((_, at) => states[at]?.isDirectory() === true);
  }

  /** Files that differ from the last snapshot, and those that it has and the next one must not. */
  async #changed(): Promise<{ there: string[]; gone: string[]; large: string[] }> {
    const ignoreCase = await ignoresCase(this.folder);
    const [changed, ignored, rewritten] = await Promise.all([
      this.#names(["-t", "--others", "--modified", "--deleted"], ignoreCase),
      this.#names(["--cached", "--ignored"], ignoreCase),
      ignoreCase ? this.#rewritten() : [],
    ]);
    // Each line begins with a letter and a space; one of a deleted file comes with `R`, and again with `C`.
    const gone = new Set([...ignored, ...changed.filter((line) => line.startsWith("R")).map((line) => line.slice(2))]);
    const names = new Set(changed.map((line) => line.slice(2)));
    for (const { from, to } of rewritten) {
      if (!gone.has(from)) names.add(to);
      gone.add(from);
    }
    const there: string[] = [];
    const large: string[] = [];
    const within: Folders = new Map();
    let bytes = 0;
    for (const path of names) {
      if (gone.has(path)) continue;
      const size = await this.#sizeOf(path, within);
      if (size === undefined) gone.add(path);
      else if (size > this.limits.file) large.push(path);
      else if (there.push(path) > this.limits.files) throw new GitError("Too many files have changed.");
      else if ((bytes += size) > this.limits.added) throw new GitError("Too much has changed.");
    }
    return { there, gone: [...gone], large };
  }

  /** Files whose names the folder writes in another case than the last snapshot: without this they would have two. */
  async #rewritten(): Promise<{ from: string; to: string }[]> {
    const lines = await this.#names(["-t", "--cached", "--others"], false);
    const recorded = new Map(lines.filter((line) => !line.startsWith("?")).map((line) => [folded(line.slice(2)), line.slice(2)]));
    const written = new WrittenNames(this.folder);
    const rewritten: { from: string; to: string }[] = [];
    for (const to of lines.filter((line) => line.startsWith("?")).map((line) => line.slice(2))) {
      const from = recorded.get(folded(to));
      if (from !== undefined && (await written.of(from)) === to) rewritten.push({ from, to });
    }
    return rewritten;
  }

  get #index(): string {
    return join(this.#git.repository, "index");
  }

  get #excludes(): string {
    return join(this.#git.repository, "excludes");
  }

  /** `ignoreCase`: for patterns, and of files that no snapshot has for those that one has in another case. */
  async #names(which: readonly string[], ignoreCase: boolean): Promise<string[]> {
    const more = { "core.ignoreCase": String(ignoreCase) };
    return namesOf(await this.#git.run(["ls-files", "-z", `--exclude-from=${this.#excludes}`, "--exclude-per-directory=.gitignore", ...which], "", { more }));
  }

  /** Bytes of a file or link that is recorded; undefined for everything else. A checkout within has a `/` at its end. */
  async #sizeOf(path: string, folders: Folders): Promise<number | undefined> {
    if (path.endsWith("/") || isSecret(path) || isBeside(path) || (await this.#isLeftOut(posix.dirname(path), folders))) return undefined;
    const state = await lstat(join(this.folder, path)).catch(() => undefined);
    return state?.isFile() === true || state?.isSymbolicLink() === true ? state.size : undefined;
  }

  /** Whether a folder lies in a repository, or is reached through a link. */
  #isLeftOut(relative: string, folders: Folders): Promise<boolean> {
    const look = async (): Promise<boolean> => {
      if (await isPartOfRepository({ folder: this.folder, relative })) return true;
      if (relative === ".") return false;
      const state = await lstat(join(this.folder, relative)).catch(() => undefined);
      return state?.isDirectory() !== true || this.#isLeftOut(posix.dirname(relative), folders);
    };
    const answer = folders.get(relative) ?? look();
    folders.set(relative, answer);
    return answer;
  }

  #prepare(): Promise<void> {
    const prepare = async (): Promise<void> => {
      for (const name of ["config", "HEAD", "packed-refs"]) await this.#freeLock(name);
      await this.#git.prepare();
    };
    return (this.#prepared ??= prepare().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    }));
  }

  /** One after the other: they share an index. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.catch(() => undefined).then(async () => {
      await this.#prepare();
      await this.#freeLock("index");
      return work();
    });
    this.#last = mine;
    return mine;
  }

  /** The lock of a command that was killed would stay for ever. */
  async #freeLock(name: string): Promise<void> {
    const lock = join(this.#git.repository, `${name}.lock`);
    const made = (await stat(lock).catch(() => undefined))?.mtimeMs;
    if (made !== undefined && Date.now() - made > this.limits.time) await rm(lock, { force: true });
  }

  /** An index that a kill or a crash spoilt is made again, once: it holds nothing that the folder does not. */
  async #checkIndex(): Promise<void> {
    if (this.#isIndexChecked) return;
    await this.#git.run(["ls-files", "--", ".coppice-nothing"]).catch(() => rm(this.#index, { force: true }));
    this.#isIndexChecked = true;
  }

  /** Packs the objects. What fails is tried with the next store: nothing depends on it. */
  async #tidy(): Promise<void> {
    await this.#git.run(["gc", "--auto", "--quiet"], "", { timeoutMs: TIDYING, more: { "gc.auto": String(MOST_LOOSE), "gc.autoDetach": "false" } }).catch(() => undefined);
  }
}

function id(snapshot: string): string {
  if (!/^[0-9a-f]{40,64}$/.test(snapshot)) throw new GitError("This is no snapshot.");
  return snapshot;
}

function stored(mode: string, content: string): StoredFile | undefined {
  return mode === "000000" ? undefined : { mode, id: content };
}

function count(lines: string): number | undefined {
  return lines === "-" ? undefined : Number(lines);
}
