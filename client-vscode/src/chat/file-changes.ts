import * as vscode from "vscode";

import { sentence } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";
import type { ModelNotes } from "./model-notes";

const KEY = "coppice.unfinishedChange";
/** Names in a notification. A guess: as many as it shows. */
const MOST_NAMED = 5;

/** Files that are about to be changed, for the branch that ends at `leafId`. */
export interface FilePlan {
  steps: PlacedStep[];
  /** The states between which they are the way; of the second one some may be left out. */
  base: string;
  target: string;
  /** The files that are changed, as they are shown, where others on the way stay. */
  only?: readonly string[];
  /** The state before. */
  now: string;
  leafId: string | undefined;
}

/** A change that was begun: the window may end before it does. */
interface Unfinished {
  conversationId: string;
  leafId: string | undefined;
  base: string;
  target: string;
  only?: readonly string[];
  /** The state before. */
  now: string;
}

/** How a change is undone. */
interface Undoing {
  /** Takes back more than the files, of which `after` is the state that the change left. */
  undo?: (after: string) => Promise<void>;
  /** Called after the undoing. */
  onUndone?: () => Promise<void>;
  /** The change is such an undoing: nobody has seen before which files cannot be taken back. */
  isUndo?: boolean;
}

/** Changes files by plans, each of which can be undone as one, also after the window ended in the middle. */
export class FileChanges {
  constructor(
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly notes: ModelNotes,
    private readonly memory: vscode.Memento,
  ) {}

  /** Shows what the last window did not finish. */
  async resume(): Promise<void> {
    const unfinished = this.memory.get<Unfinished>(KEY);
    if (unfinished === undefined || !vscode.workspace.isTrusted) return;
    const answer = await notify.warn("Files were being changed when the window ended. Some of them may not be.", "Finish", "Undo");
    if (answer === undefined) return;
    const { conversationId, leafId, only } = unfinished;
    // Not from the state before: what the user had changed in it would be part of the way.
    const [base, target] = answer === "Finish" ? [unfinished.base, unfinished.target] : [unfinished.target, unfinished.now];
    try {
      const names = only && new Set(only);
      const { steps, now } = await this.snapshots.plan(conversationId, base, target);
      await this.write(conversationId, { steps: names === undefined ? steps : steps.filter(({ shown }) => names.has(shown)), now, base, target, ...only && { only }, leafId });
    } catch (error) {
      void notify.error(sentence(error));
    }
  }

  /** Changes the files, offers to undo that, and gives the steps that were taken. */
  async write(conversationId: string, plan: FilePlan, undoing: Undoing = {}): Promise<PlacedStep[]> {
    const { steps, base, target, only, now, leafId } = plan;
    const changed = steps.filter(isChange);
    const conflicts = undoing.isUndo === true ? steps.filter((step) => !isChange(step)) : [];
    if (changed.length === 0) {
      await this.states.remember(conversationId, leafId, { state: now, isElsewhere: false });
      if (conflicts.length > 0) void this.#report(conversationId, { ...plan, steps: [] }, conflicts, undefined, undoing);
      return [];
    }
    await this.memory.update(KEY, { conversationId, leafId, base, target, ...only && { only }, now } satisfies Unfinished);
    const { state, stayed } = await withProgress(this.snapshots.write(conversationId, changed));
    await this.memory.update(KEY, undefined);
    if (state !== undefined) await this.states.remember(conversationId, leafId, { state, isElsewhere: false });
    const written = changed.filter((step) => !stayed.includes(step));
    void this.#report(conversationId, { ...plan, steps: written }, [...conflicts, ...stayed], state, undoing);
    return written;
  }

  async #report(conversationId: string, { steps, now, leafId }: FilePlan, stayed: readonly PlacedStep[], after: string | undefined, { undo, onUndone }: Undoing): Promise<void> {
    const names = stayed.slice(0, MOST_NAMED).map(({ shown }) => shown).join(", ");
    const rest = stayed.length === 0 ? "" : ` ${counted(stayed.length, "file")} changed meanwhile or could not be written, and stayed: ${names}${stayed.length > MOST_NAMED ? ", …" : ""}.`;
    const show = stayed.length === 0 ? notify.info : notify.warn;
    const actions = after === undefined || steps.length === 0 ? [] : ["Undo"];
    const what = `${undo === undefined ? "Changed" : "Went to the branch and changed"} ${counted(steps.length, "file")}.${rest}`;
    let answer = await show(what, ...actions);
    while (answer === "Undo" && after !== undefined) {
      try {
        if (undo === undefined) await this.#undoFiles(conversationId, after, now, leafId);
        else await undo(after);
        await onUndone?.();
        return;
      } catch (error) {
        // A turn may run meanwhile.
        answer = await notify.error(sentence(error), "Undo");
      }
    }
  }

  async #undoFiles(conversationId: string, after: string, now: string, leafId: string | undefined): Promise<void> {
    const undone = await this.write(conversationId, { ...(await this.snapshots.plan(conversationId, after, now)), base: after, target: now, leafId }, { isUndo: true });
    await this.notes.set(conversationId, "The user has changed these files since.", undone.map(({ shown }) => shown));
  }
}

export function isChange({ fate }: PlacedStep): boolean {
  return fate !== "conflict";
}

/** Shows in the chat that something goes on: a large workspace takes seconds. */
export function withProgress<T>(work: Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: { viewId: "coppice.chat" } }, () => work);
}
