import { setTimeout as sleep } from "node:timers/promises";

import { planned, type Step } from "./plan";
import { digest, SnapshotStore } from "./store";
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

  /** `storage` is a folder of the extension's own. */
  constructor(private readonly storage: string, private readonly host: WorkspaceHost) {}

  /** The state of now, kept for the conversation; undefined where it cannot be recorded, or not soon. */
  async take(conversationId: string): Promise<string | undefined> {
    if (Date.now() < this.#resumes) return undefined;
    this.#resumes = Infinity;
    const began = Date.now();
    const recorded = this.#take(conversationId).then(
      (state) => {
        this.#resumes = 0;
        return state;
      },
      (error: unknown) => {
        this.#resumes = Date.now() + PAUSE * (Date.now() - began);
        this.host.warn(`The state of the files was not recorded. ${String(error)}`);
        return undefined;
      },
    );
    return Promise.race([recorded, sleep(PATIENCE, undefined, { ref: false })]);
  }

  /** What going over from one state to another means for the files of now, and the state of now. Throws `GitError`. */
  async plan(conversationId: string, base: string, target: string): Promise<{ steps: PlacedStep[]; now: string }> {
    const now = await this.#take(conversationId) ?? "";
    const [bases, targets, nows] = [parsed(base), parsed(target), parsed(now)];
    const steps: PlacedStep[] = [];
    for (const folder of this.host.folders) {
      const key = digest(folder);
      const [from, to, there] = [bases.get(key), targets.get(key), nows.get(key)];
      if (from === undefined || to === undefined || there === undefined) continue;
      for (const step of await planned(this.#store(folder), from, to, there)) {
        const stays = this.host.isUnsaved(`${folder}/${step.path}`) || (await isBlocked(folder, step));
        steps.push(stays ? { ...step, folder, fate: "conflict", content: undefined } : { ...step, folder });
      }
    }
    return { steps, now };
  }

  /**
   * Takes steps that were planned for the state `now`, and gives the state after them. Throws `Error` where files have
   * changed since; nothing is written then.
   */
  async write(conversationId: string, { steps, now }: { steps: readonly PlacedStep[]; now: string }): Promise<string> {
    if ((await this.#take(conversationId)) !== now) throw new Error("Files have changed meanwhile, so none was written. Try again.");
    for (const step of steps) await takeStep(step.folder, step);
    return (await this.#take(conversationId)) ?? "";
  }

  /** Forgets the states of a conversation that was deleted. */
  async forget(conversationId: string): Promise<void> {
    try {
      for (const folder of this.host.folders) await this.#store(folder).forget(conversationId);
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

  #store(folder: string): SnapshotStore {
    const store = this.#stores.get(folder) ?? new SnapshotStore(this.storage, folder);
    this.#stores.set(folder, store);
    return store;
  }
}

function parsed(state: string): Map<string, string> {
  return new Map(state.split(" ").map((part) => {
    const [folder = "", snapshot = ""] = part.split(":");
    return [folder, snapshot];
  }));
}
