import * as v from "valibot";
import * as vscode from "vscode";

import { sentence } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";
import type { ChatAccess } from "./feature";

const KEY = "coppice.unfinishedChanges";
/** Names in a notification. A guess: as many as it shows. */
const MOST_NAMED = 5;

const change = v.object({
  /** The branch that the conversation leaves: its end, undefined before the first message, and what was remembered of it. */
  left: v.optional(v.object({ leafId: v.optional(v.string()), state: v.optional(v.object({ state: v.string(), isElsewhere: v.boolean() })) })),
  /** The conversation has left it. */
  hasMoved: v.optional(v.boolean()),
  /** The states between which the files are the way; of the second one some may be left out. */
  base: v.string(),
  target: v.string(),
  /** The files that are changed, as they are shown, where others on the way stay. */
  only: v.optional(v.array(v.string())),
  /** The state to which an undoing goes. */
  before: v.string(),
});

/** Files that are about to be changed. `earlier` is the change that it undoes, which is not done. */
export type FileChange = v.InferOutput<typeof change> & { earlier?: FileChange | undefined };

const recorded: v.GenericSchema<unknown, FileChange> = v.object({ ...change.entries, earlier: v.optional(v.lazy(() => recorded)) });

export interface FilePlan extends FileChange {
  /** The end of the branch of the files. */
  leafId: string | undefined;
  steps: PlacedStep[];
  /** The state in which they are. */
  now: string;
}

/** Undoes a change, which left the files in the state `after`. */
export type Undo = (after: string) => Promise<void>;

/**
 * Changes files by plans, each of which can be undone as one. A change is recorded from before its first step until it is
 * finished, undone or given up, or its conversation is deleted.
 */
export class FileChanges {
  /** By conversation, a change of branch or files that a turn has to wait for. */
  readonly #going = new Map<string, Promise<unknown>>();

  constructor(
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly memory: vscode.Memento,
  ) {}

  /** By conversation, the changes that were begun and are not done: the window ended, for instance. */
  get unfinished(): Readonly<Record<string, FileChange>> {
    const stored = Object.entries(this.memory.get<object | null>(KEY) ?? {}).map(([id, value]) => [id, v.safeParse(recorded, value)] as const);
    return Object.fromEntries(stored.flatMap(([id, { success, output }]) => (success ? [[id, output]] : [])));
  }

  /** Records a change that is about to begin. */
  async begin(conversationId: string, { left, hasMoved, base, target, only, before, earlier }: FileChange): Promise<void> {
    await this.#put(conversationId, { left, hasMoved, base, target, only, before, earlier });
  }

  async forget(conversationId: string): Promise<void> {
    if (Object.hasOwn(this.unfinished, conversationId)) await this.#put(conversationId, undefined);
  }

  /** Does one work after the other. */
  async hold<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    const going = (this.#going.get(conversationId) ?? Promise.resolve()).then(work, work);
    this.#going.set(conversationId, going);
    try {
      return await going;
    } finally {
      if (this.#going.get(conversationId) === going) this.#going.delete(conversationId);
    }
  }

  /** Changes the files, offers to undo that, and gives the steps that were taken. `isUnseen`: nobody has seen the plan. */
  async write(conversationId: string, plan: FilePlan, undo: Undo, isUnseen = false): Promise<PlacedStep[]> {
    const { steps, now, leafId } = plan;
    const changed = steps.filter(isChange);
    const conflicts = isUnseen ? steps.filter((step) => !isChange(step)) : [];
    if (changed.length === 0) {
      await this.forget(conversationId);
      await this.states.remember(conversationId, leafId, { state: now, isElsewhere: false });
      if (conflicts.length > 0) void this.#report({ ...plan, steps: [] }, conflicts, undefined, undo);
      return [];
    }
    await this.begin(conversationId, plan);
    const { state, stayed } = await withProgress(this.snapshots.write(conversationId, changed));
    await this.forget(conversationId);
    if (state !== undefined) await this.states.remember(conversationId, leafId, { state, isElsewhere: false });
    const written = changed.filter((step) => !stayed.includes(step));
    void this.#report({ ...plan, steps: written }, [...conflicts, ...stayed], state, undo);
    return written;
  }

  async #report({ steps, left }: FilePlan, stayed: readonly PlacedStep[], after: string | undefined, undo: Undo): Promise<void> {
    const names = stayed.slice(0, MOST_NAMED).map(({ shown }) => shown).join(", ");
    const rest = stayed.length === 0 ? "" : ` ${counted(stayed.length, "file")} changed meanwhile or could not be written, and stayed: ${names}${stayed.length > MOST_NAMED ? ", …" : ""}.`;
    const show = stayed.length === 0 ? notify.info : notify.warn;
    const actions = after === undefined || steps.length === 0 ? [] : ["Undo"];
    const what = `${left === undefined ? "Changed" : "Went to the branch and changed"} ${counted(steps.length, "file")}.${rest}`;
    let answer = await show(what, ...actions);
    while (answer === "Undo" && after !== undefined) {
      try {
        await undo(after);
        return;
      } catch (error) {
        // A turn may run meanwhile.
        answer = await notify.error(sentence(error), "Undo");
      }
    }
  }

  async #put(conversationId: string, change: FileChange | undefined): Promise<void> {
    const others = Object.entries(this.unfinished).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(change === undefined ? others : [...others, [conversationId, change]]));
  }
}

export function refuseIfRestricted(): void {
  if (!vscode.workspace.isTrusted) throw new Error("This workspace is not trusted: nothing in it can be changed.");
}

export function refuseIfRunning(chat: Pick<ChatAccess, "isRunning">, conversationId: string): void {
  if (chat.isRunning(conversationId)) throw new Error("A turn is running, so no file was changed. Try again when it has ended.");
}

export function isChange({ fate }: PlacedStep): boolean {
  return fate !== "conflict";
}

/** Shows in the chat that something goes on: a large workspace takes seconds. */
export function withProgress<T>(work: Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: { viewId: "coppice.chat" } }, () => work);
}
