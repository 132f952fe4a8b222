import * as vscode from "vscode";

import { sentence } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchState, BranchStates } from "./branch-states";
import type { ChatAccess } from "./feature";
import type { ModelNotes } from "./model-notes";

const KEY = "coppice.unfinishedChanges";
/** Names in a notification. A guess: as many as it shows. */
const MOST_NAMED = 5;

/** A branch that is left with its files. */
export interface LeftBranch {
  /** Its end. */
  leafId: string;
  /** What was remembered of it. */
  state: BranchState | undefined;
}

/** Files that are about to be changed. */
export interface FileChange {
  /** The end of their branch; undefined until the conversation is there. */
  leafId: string | undefined;
  /** The branch that the conversation leaves; undefined where it stays. */
  left?: LeftBranch;
  /** The states between which they are the way; of the second one some may be left out. */
  base: string;
  target: string;
  /** The files that are changed, as they are shown, where others on the way stay. */
  only?: readonly string[];
  /** The state to which an undoing goes. */
  before: string;
}

export interface FilePlan extends FileChange {
  steps: PlacedStep[];
  /** The state in which they are. */
  now: string;
}

/** How a change is undone. */
export interface Undoing {
  /** Takes back more than the files, of which `after` is the state that the change left. */
  undo?: (after: string) => Promise<void>;
  /** Called after the undoing. */
  onUndone?: () => Promise<void>;
  /** Nobody has seen before which files cannot be changed: the change is such an undoing, for instance. */
  isUnseen?: boolean;
}

/** Changes files by plans, each of which can be undone as one, and is recorded until it is done. */
export class FileChanges {
  /** By conversation, a change of branch or files that a turn has to wait for. */
  readonly #going = new Map<string, Promise<unknown>>();

  constructor(
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly notes: ModelNotes,
    private readonly memory: vscode.Memento,
  ) {}

  /** By conversation, the changes that were begun and are not done: the window ended, for instance. */
  get unfinished(): Readonly<Record<string, FileChange>> {
    return this.memory.get(KEY, {});
  }

  /** Records a change that is about to begin. */
  async begin(conversationId: string, { leafId, left, base, target, only, before }: FileChange): Promise<void> {
    await this.#put(conversationId, { leafId, ...left && { left }, base, target, ...only && { only }, before });
  }

  async forget(conversationId: string): Promise<void> {
    if (Object.hasOwn(this.unfinished, conversationId)) await this.#put(conversationId, undefined);
  }

  /** Resolves when the conversation and its files are where its user brought them. */
  async settled(conversationId: string): Promise<void> {
    await this.#going.get(conversationId)?.catch(() => undefined);
  }

  /** Has turns of the conversation wait for this work. */
  async hold<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    const going = work();
    this.#going.set(conversationId, going);
    try {
      return await going;
    } finally {
      if (this.#going.get(conversationId) === going) this.#going.delete(conversationId);
    }
  }

  /** Changes the files, offers to undo that, and gives the steps that were taken. */
  async write(conversationId: string, plan: FilePlan, undoing: Undoing = {}): Promise<PlacedStep[]> {
    const { steps, now, leafId } = plan;
    const changed = steps.filter(isChange);
    const conflicts = undoing.isUnseen === true ? steps.filter((step) => !isChange(step)) : [];
    if (changed.length === 0) {
      await this.forget(conversationId);
      await this.states.remember(conversationId, leafId, { state: now, isElsewhere: false });
      if (conflicts.length > 0) void this.#report(conversationId, { ...plan, steps: [] }, conflicts, undefined, undoing);
      return [];
    }
    await this.begin(conversationId, plan);
    const { state, stayed } = await withProgress(this.snapshots.write(conversationId, changed));
    await this.forget(conversationId);
    if (state !== undefined) await this.states.remember(conversationId, leafId, { state, isElsewhere: false });
    const written = changed.filter((step) => !stayed.includes(step));
    void this.#report(conversationId, { ...plan, steps: written }, [...conflicts, ...stayed], state, undoing);
    return written;
  }

  async #report(conversationId: string, { steps, before, leafId }: FilePlan, stayed: readonly PlacedStep[], after: string | undefined, { undo, onUndone }: Undoing): Promise<void> {
    const names = stayed.slice(0, MOST_NAMED).map(({ shown }) => shown).join(", ");
    const rest = stayed.length === 0 ? "" : ` ${counted(stayed.length, "file")} changed meanwhile or could not be written, and stayed: ${names}${stayed.length > MOST_NAMED ? ", …" : ""}.`;
    const show = stayed.length === 0 ? notify.info : notify.warn;
    const actions = after === undefined || steps.length === 0 ? [] : ["Undo"];
    const what = `${undo === undefined ? "Changed" : "Went to the branch and changed"} ${counted(steps.length, "file")}.${rest}`;
    let answer = await show(what, ...actions);
    while (answer === "Undo" && after !== undefined) {
      try {
        if (undo === undefined) await this.#undoFiles(conversationId, after, before, leafId);
        else await undo(after);
        await onUndone?.();
        return;
      } catch (error) {
        // A turn may run meanwhile.
        answer = await notify.error(sentence(error), "Undo");
      }
    }
  }

  async #undoFiles(conversationId: string, after: string, before: string, leafId: string | undefined): Promise<void> {
    const plan = await this.snapshots.plan(conversationId, after, before);
    const undone = await this.write(conversationId, { ...plan, before: plan.now, base: after, target: before, leafId }, { isUnseen: true });
    await this.notes.set(conversationId, "The user has changed these files since.", undone.map(({ shown }) => shown));
  }

  async #put(conversationId: string, change: FileChange | undefined): Promise<void> {
    const others = Object.entries(this.unfinished).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(change === undefined ? others : [...others, [conversationId, change]]));
  }
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
