import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { sensitivityOf } from "../agent/sensitive";
import { sentence } from "../errors";
import { folded, ignoresCase } from "./case";
import { planned, type Step } from "./plan";
import { digest } from "./references";
import { type Change, isLeftOut, LIMITS, SnapshotStore, type StoredFile } from "./store";
import { isBlocked, takeStep } from "./write";

/** Milliseconds that a request waits for its snapshot: the first one of a large workspace takes longer. A guess. */
const PATIENCE = 5000;
/** After a failure the next attempt waits for so many times as long as that one took: it costs a twentieth of the time. */
const PAUSE = 20;
/** Characters of a state on the wire. */
const MOST_CHARS = 4000;

/** A step in one of the workspace's folders. */
export interface PlacedStep extends Step {
  folder: string;
  /** What a person is shown: with the name of the folder where the workspace has several. */
  shown: string;
  /** The file can make programs run, or instructs agents: a person is to see it before it is written. */
  isControl: boolean;
}

/** A file in which two states differ; `added` and `removed` are lines, undefined for what is no text. */
export interface PlacedDifference {
  /** Absolute. */
  file: string;
  folder: string;
  /** What a person is shown. */
  shown: string;
  added: number | undefined;
  removed: number | undefined;
  /** Reads what the first state has of it; undefined where it has nothing, or did not record it. */
  from: (() => Promise<Buffer>) | undefined;
  /** What both states have of it. */
  change: Change;
}

export interface Written {
  /** Undefined where it could not be recorded. */
  state: string | undefined;
  /** Steps that were not taken: the file has changed since the plan, or could not be written. */
  stayed: PlacedStep[];
}

export interface WorkspaceHost {
  /** Absolute. */
  readonly folders: readonly string[];
  /** Nothing is recorded or written in a workspace that is not trusted. */
  readonly isTrusted: boolean;
  /** Whether the editor has changes of a file that were not saved. */
  isUnsaved(path: string): boolean;
  warn(message: string): void;
}

/**
 * The recorded states of a workspace's folders. A state is a text: for each folder a digest of its path and the name of
 * its snapshot. Folders that one of two states lacks stay as they are.
 */
export class WorkspaceSnapshots {
  readonly #stores = new Map<string, SnapshotStore>();
  /** When a state may be recorded again, in milliseconds: not before an attempt that takes long has ended. */
  #resumes = 0;
  #ahead: Promise<void> | undefined;
  #failure: string | undefined;

  /** `storage` is a folder of the extension's own. `patienceMs`: how long `take` waits for its snapshot. */
  constructor(private readonly storage: string, private readonly host: WorkspaceHost, private readonly limits = LIMITS, private readonly patienceMs = PATIENCE) {}

  /** Why the last state was not recorded. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The state of now, kept for the conversation; undefined where it cannot be recorded, or not soon. */
  async take(conversationId: string): Promise<string | undefined> {
    if (Date.now() < this.#resumes) return undefined;
    const began = Date.now();
    const recorded = this.#take(conversationId).then(
      (state) => {
        this.#resumes = 0;
        return state;
      },
      (error: unknown) => {
        this.#resumes = Date.now() + PAUSE * (Date.now() - began);
        this.#failure = sentence(error);
        this.host.warn(`The state of the files was not recorded. ${String(error)}`);
        return undefined;
      },
    );
    const result = await Promise.race([recorded, sleep(this.patienceMs, "late" as const, { ref: false })]);
    if (result !== "late") {
      if (result !== undefined) this.#failure = undefined;
      return result;
    }
    this.#resumes = Infinity; // Until it is done.
    this.#failure = `It took longer than ${this.patienceMs / 1000} seconds.`;
    return undefined;
  }

  /** Records the files ahead of the first state, once, so that no request waits for more than what has changed since. */
  readAhead(): Promise<void> {
    if (!this.host.isTrusted) return Promise.resolve();
    return (this.#ahead ??= Promise.all(this.host.folders.map((folder) => this.#store(folder).readAhead())).then(
      () => undefined,
      (error: unknown) => {
        this.#failure = sentence(error);
        this.host.warn(`The files were not recorded ahead. ${String(error)}`);
      },
    ));
  }

  /** What going over from one state to another means for the files of now, and the state of now. Throws `GitError`. */
  async plan(conversationId: string, base: string, target: string): Promise<{ steps: PlacedStep[]; now: string }> {
    const now = await this.#take(conversationId) ?? "";
    const [there, from, to] = [parsed(now), parsed(base), parsed(target)];
    const steps: PlacedStep[] = [];
    for (const folder of this.host.folders) {
      const key = digest(folder);
      const [state, left, right] = [there.get(key), from.get(key), to.get(key)];
      if (state === undefined || left === undefined || right === undefined) continue;
      steps.push(...(await this.#placed(folder, await planned(this.#store(folder), left, right, state, await ignoresCase(folder)))));
    }
    return { steps, now };
  }

  /** The state of now, however long that takes, and the one that steps will make of it. Throws `GitError`. */
  async foresee(conversationId: string, steps: readonly PlacedStep[]): Promise<{ now: string; after: string }> {
    const now = await this.#take(conversationId) ?? "";
    return { now, after: await this.outcome(conversationId, now, steps) };
  }

  /** The state that steps make of one; a file that is another one there stays, unless `replaces`. Throws `GitError`. */
  async outcome(conversationId: string, state: string, steps: readonly PlacedStep[], replaces = false): Promise<string> {
    const after: string[] = [];
    for (const [key, snapshot] of parsed(state)) {
      const folder = this.host.folders.find((each) => digest(each) === key);
      const own = steps.filter((step) => step.folder === folder);
      after.push(`${key}:${folder === undefined || own.length === 0 ? snapshot : await this.#store(folder).outcome(conversationId, snapshot, own, replaces)}`);
    }
    return after.join(" ");
  }

  /** The files in which two states differ. Throws `GitError`. */
  async differences(from: string, to: string): Promise<PlacedDifference[]> {
    const [left, right] = [parsed(from), parsed(to)];
    const placed: PlacedDifference[] = [];
    for (const folder of this.host.folders) {
      const [one, other] = [left.get(digest(folder)), right.get(digest(folder))];
      if (one === undefined || other === undefined) continue;
      const store = this.#store(folder);
      const [counts, changes] = await Promise.all([store.differences(one, other), store.changes(one, other)]);
      for (const { path, added, removed } of counts) {
        const change = changes.get(path) ?? { from: undefined, to: undefined };
        const before = change.from;
        const readable = before !== undefined && !isLeftOut(before) ? () => store.content(before) : undefined;
        placed.push({ file: join(folder, path), folder, shown: this.#shown(folder, path), added, removed, from: readable, change });
      }
    }
    return placed;
  }

  /** The bytes of a file that a state of this folder has. Throws `GitError`. */
  async content(folder: string, file: StoredFile): Promise<Buffer> {
    if (!this.host.folders.includes(folder)) throw new Error(`${folder} is no folder of this workspace.`);
    return this.#store(folder).content(file);
  }

  /** Takes steps that were planned; a file that has changed since then stays. Gives the state after them. */
  async write(conversationId: string, steps: readonly PlacedStep[]): Promise<Written> {
    const stayed: PlacedStep[] = [];
    const readable = await this.#readable(steps);
    for (const step of steps) {
      const isKept = step.there !== undefined && readable.get(step.folder)?.has(step.there.id);
      const keep = async (bytes: Uint8Array): Promise<void> => { if (!isKept) await this.#store(step.folder).storeAnew(bytes); };
      try {
        if (this.host.isTrusted && !this.host.isUnsaved(join(step.folder, step.path)) && (await takeStep(step.folder, step, keep))) continue;
      } catch (error) {
        this.host.warn(`${step.shown} was not written. ${String(error)}`);
      }
      stayed.push(step);
    }
    return { state: await this.#take(conversationId), stayed };
  }

  /** Keeps the states of a conversation that was forked for the fork as well. Whether that was done. */
  async share(forkId: string, conversationId: string): Promise<boolean> {
    try {
      for (const folder of this.host.folders) await this.#store(folder).share(forkId, conversationId);
      return true;
    } catch (error) {
      this.host.warn(`The states of the files were not kept for a fork. ${String(error)}`);
      return false;
    }
  }

  /** The ids of the conversations that have states here. Throws `GitError`. */
  async conversations(): Promise<string[]> {
    const ids = await Promise.all(this.host.folders.map((folder) => this.#store(folder).conversations()));
    return [...new Set(ids.flat())];
  }

  /** Forgets the states of conversations that were deleted. */
  async forget(...conversationIds: readonly string[]): Promise<void> {
    try {
      for (const folder of this.host.folders) await this.#store(folder).forget(conversationIds);
    } catch (error) {
      this.host.warn(`The states of the files of a deleted conversation were not removed. ${String(error)}`);
    }
  }

  warn(message: string): void {
    this.host.warn(message);
  }

  async #take(conversationId: string): Promise<string | undefined> {
    const { folders, isTrusted } = this.host;
    if (!isTrusted || folders.length === 0) return undefined;
    const states: string[] = [];
    for (const folder of folders) states.push(`${digest(folder)}:${await this.#store(folder).take(conversationId)}`);
    const state = states.join(" ");
    return state.length <= MOST_CHARS ? state : undefined;
  }

  /** By folder, the contents that steps replace and that could be brought back. */
  async #readable(steps: readonly PlacedStep[]): Promise<Map<string, ReadonlySet<string>>> {
    const readable = new Map<string, ReadonlySet<string>>();
    if (!this.host.isTrusted) return readable;
    for (const folder of new Set(steps.map((step) => step.folder))) {
      const replaced = steps.flatMap((step) => (step.folder === folder && step.fate !== "conflict" ? (step.there?.id ?? []) : []));
      readable.set(folder, await this.#store(folder).readable(replaced));
    }
    return readable;
  }

  async #placed(folder: string, steps: readonly Step[]): Promise<PlacedStep[]> {
    const isUnsaved = (path: string): boolean => this.host.isUnsaved(join(folder, path));
    const deleted = new Set(steps.filter(({ fate, path }) => fate === "deleted" && !isUnsaved(path)).map(({ path }) => path));
    const hasOneCase = await ignoresCase(folder);
    const written = new Set<string>();
    const placed: PlacedStep[] = [];
    for (const step of steps) {
      const { path } = step;
      const shown = this.#shown(folder, path);
      const isControl = (await sensitivityOf({ path: join(folder, path), folder, relative: path, shown, prefix: "" }, true)) === "control";
      const isTwin = hasOneCase && step.content !== undefined && written.has(folded(path));
      const stays = isTwin || isUnsaved(path) || (await isBlocked(folder, step, deleted));
      if (!stays && step.content !== undefined) written.add(folded(path));
      placed.push({ ...step, folder, shown, isControl, ...stays ? { fate: "conflict", content: undefined } : {} });
    }
    return placed;
  }

  #shown(folder: string, path: string): string {
    return this.host.folders.length > 1 ? `${basename(folder)}/${path}` : path;
  }

  #store(folder: string): SnapshotStore {
    const store = this.#stores.get(folder) ?? new SnapshotStore(this.storage, folder, this.limits, () => this.host.folders);
    this.#stores.set(folder, store);
    return store;
  }
}

function parsed(state: string): Map<string, string> {
  return new Map(state.split(" ").map((part) => {
    const [folder = "", snapshot = ""] = part.split(":");
    return [folder, snapshot] as const;
  }));
}
