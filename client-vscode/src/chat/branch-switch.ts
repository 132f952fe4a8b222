import type { CoppiceClient } from "../client";
import { CoppiceError, sentence } from "../errors";
import { notify } from "../notify";
import type { BranchFile, NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";
import type { ChatAccess } from "./feature";
import { type FileChange, type FileChanges, type FilePlan, isChange, type LeftBranch, refuseIfRunning, type Undoing, withProgress } from "./file-changes";
import type { FilesOffers } from "./files-offers";
import { leftFiles } from "./left-files";
import type { ModelNotes } from "./model-notes";

/** For a model, of its conversation's files. */
const CHANGED_SINCE = "The user has changed these files since.";

/** The button of a notification. */
const SHOW = "Show Chat";

/** What the branch that is left changed in the files; undefined where that is not known. `beginId`: its first entry. */
export type LeftFiles = (beginId: string) => Promise<BranchFile[] | undefined>;

/** Takes a conversation to another branch with its files, as one step, which the next window can finish or undo. */
export class BranchSwitch {
  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly changes: FileChanges,
    private readonly notes: ModelNotes,
    private readonly offers: FilesOffers,
  ) {}

  /** Goes by `navigate`. `withFiles`: as planned. `isUndo`: nobody has seen the plan. */
  async go(conversationId: string, plan: FilePlan, withFiles: boolean, navigate: (left: LeftFiles) => Promise<NavigateResult>, isUndo = false): Promise<NavigateResult> {
    this.offers.cancel(conversationId);
    const earlier = this.changes.unfinished[conversationId];
    // The question may have waited for long.
    const now = (await this.snapshots.take(conversationId)) ?? plan.now;
    const left = plan.leafId === undefined ? undefined : { leafId: plan.leafId, state: this.states.of(conversationId, plan.leafId) };
    const change: FilePlan = { ...plan, leafId: undefined, ...left && { left }, now, before: now };
    const isWritten = withFiles && plan.steps.some(isChange);
    if (isWritten) await this.changes.begin(conversationId, change);
    const stay = (): Promise<void> => (earlier === undefined ? this.changes.forget(conversationId) : this.changes.begin(conversationId, earlier));
    const result = await navigate((beginId) => this.left(conversationId, beginId, withFiles ? plan.steps : [])).catch(async (error: unknown) => {
      if (earlier !== undefined) await stay();
      else void this.resume(conversationId); // The server may have ended before its answer came.
      throw error;
    });
    if (result.cancelled) {
      await stay();
      return result;
    }
    if (left?.state?.isElsewhere !== true) await this.states.remember(conversationId, plan.leafId, { state: now, isElsewhere: false });
    const leafId = result.leafId ?? undefined;
    if (isWritten || !withFiles) await this.states.remember(conversationId, leafId, { state: plan.target, isElsewhere: true });
    if (withFiles) {
      await this.changes.write(conversationId, { ...change, leafId }, { isUnseen: isUndo, ...left && { undo: (after) => this.#goBack(conversationId, left, now, after) } });
      await this.#note(conversationId, CHANGED_SINCE, plan.steps.filter(isTheUsers));
    } else {
      await this.changes.forget(conversationId);
      await this.#note(conversationId, "These files are as the user had them on another branch, not as this conversation left them.", plan.steps);
    }
    return result;
  }

  /**
   * Takes back that a branch was left with its files: the conversation goes to its end, and the files to their state of
   * `before`. What was changed in them since the switch, which left `after`, stays where it can be merged.
   */
  #goBack(conversationId: string, left: LeftBranch, before: string, after: string): Promise<void> {
    return this.changes.hold(conversationId, async () => {
      refuseIfRunning(this.chat, conversationId);
      const { leafId, state: base = after } = await this.states.at(conversationId);
      const plan = { ...(await withProgress(this.snapshots.plan(conversationId, base, before))), leafId, base, target: before, before };
      const result = await this.go(conversationId, plan, true, () => this.client.request("coppice/navigate", { conversationId, targetId: left.leafId }), true);
      if (result.cancelled) throw new Error("An extension kept the conversation on its branch.");
      if (result.editorText !== undefined) this.chat.putDraft(conversationId, result.editorText, { ifEmpty: true });
      if (left.state?.isElsewhere === true) await this.states.remember(conversationId, left.leafId, left.state);
    });
  }

  /** Finds out whether the conversation moved before a change was cut off. Where it did not, nothing was changed: there is none. */
  async decide(conversationId: string): Promise<FileChange | undefined> {
    const change = this.changes.unfinished[conversationId];
    if (change?.left === undefined || change.leafId !== undefined) return change;
    const { leafId } = await this.states.at(conversationId);
    if (leafId === change.left.leafId) {
      await this.changes.forget(conversationId);
      return undefined;
    }
    const moved = { ...change, leafId };
    await this.changes.begin(conversationId, moved);
    await this.states.remember(conversationId, leafId, { state: change.target, isElsewhere: true });
    return moved;
  }

  /** Offers to finish or to undo a change that was begun. `show` leads to its chat, where nobody may be looking. */
  async resume(conversationId: string, show?: () => void): Promise<void> {
    try {
      const change = await this.decide(conversationId);
      if (change === undefined) return;
      if (show !== undefined) void notify.warn("Files were being changed when the window ended. Some of them may not be.", SHOW).then((answer) => { if (answer === SHOW) show(); });
      for (let isDone = false; !isDone; ) {
        const choice = await this.offers.ask(conversationId, "unfinished");
        if (choice !== "finish" && choice !== "undo") return;
        isDone = await (choice === "finish" ? this.#finish(conversationId, change) : this.#undo(conversationId, change)).then(
          () => true,
          (error: unknown) => {
            void notify.error(sentence(error)); // A turn may run meanwhile.
            return false;
          },
        );
      }
    } catch (error) {
      if (error instanceof CoppiceError && error.code === "unknown-conversation") await this.changes.forget(conversationId);
      else this.snapshots.warn(`Whether a change of files is to be finished is not known. ${String(error)}`);
    }
  }

  #finish(conversationId: string, change: FileChange): Promise<void> {
    const { left, base, target, before } = change;
    return this.changes.hold(conversationId, async () => {
      const plan = await this.#rest(conversationId, change, base, target);
      await this.#complete(conversationId, plan, left && { undo: (after) => this.#goBack(conversationId, left, before, after) });
    });
  }

  #undo(conversationId: string, change: FileChange): Promise<void> {
    const { left, target, before } = change;
    if (left !== undefined) return this.#goBack(conversationId, left, before, target);
    return this.changes.hold(conversationId, async () => {
      // Not from the state before: what the user had changed in it would be part of the way.
      const plan = await this.#rest(conversationId, change, target, before);
      await this.#complete(conversationId, { ...plan, before: plan.now });
    });
  }

  /** What of a change is still to be done, on another way where it is undone. */
  async #rest(conversationId: string, change: FileChange, base: string, target: string): Promise<FilePlan> {
    refuseIfRunning(this.chat, conversationId);
    const { leafId } = await this.states.at(conversationId);
    const { steps, now } = await withProgress(this.snapshots.plan(conversationId, base, target));
    return { ...change, leafId, base, target, now, steps: steps.filter(({ shown }) => change.only?.includes(shown) !== false) };
  }

  async #complete(conversationId: string, plan: FilePlan, undoing: Undoing = {}): Promise<void> {
    const written = await this.changes.write(conversationId, plan, { ...undoing, isUnseen: true });
    await this.#note(conversationId, CHANGED_SINCE, plan.left === undefined ? written : plan.steps.filter(isTheUsers));
  }

  /** What the branch that is left, which began with an entry, has changed, when steps will have been taken. */
  async left(conversationId: string, beginId: string, steps: readonly PlacedStep[]): Promise<BranchFile[] | undefined> {
    try {
      const [begin, end, now] = await Promise.all([this.states.at(conversationId, beginId), this.states.at(conversationId), this.snapshots.take(conversationId)]);
      if (begin.state === undefined || end.state === undefined || now === undefined) return undefined;
      const isElsewhere = this.states.of(conversationId, end.leafId)?.isElsewhere === true;
      return await leftFiles(this.snapshots, { begin: begin.state, end: isElsewhere ? end.state : now, now }, steps);
    } catch (error) {
      this.snapshots.warn(`What the branch left in the files is not known. ${String(error)}`);
      return undefined;
    }
  }

  #note(conversationId: string, what: string, steps: readonly PlacedStep[]): Promise<void> {
    return this.notes.set(conversationId, what, steps.map(({ shown }) => shown));
  }
}

/** What the user has changed goes along, or stays. */
function isTheUsers({ fate }: PlacedStep): boolean {
  return fate === "merged" || fate === "conflict";
}
