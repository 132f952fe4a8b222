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
    await this.forget(conversationId);
    // The question may have waited for long.
    const now = (await this.snapshots.take(conversationId)) ?? plan.now;
    const left = plan.leafId === undefined ? undefined : { leafId: plan.leafId, state: this.states.of(conversationId, plan.leafId) };
    const change: FilePlan = { ...plan, leafId: undefined, ...left && { left }, now, before: now };
    const isWritten = withFiles && plan.steps.some(isChange);
    if (isWritten) await this.changes.begin(conversationId, change);
    const result = await navigate((beginId) => this.left(conversationId, beginId, withFiles ? plan.steps : [])).catch((error: unknown) => {
      // The server may have ended before its answer came.
      if (isWritten) void this.resume(conversationId, change);
      throw error;
    });
    if (result.cancelled) {
      await this.changes.forget(conversationId);
      return result;
    }
    if (left?.state?.isElsewhere !== true) await this.states.remember(conversationId, plan.leafId, { state: now, isElsewhere: false });
    const leafId = result.leafId ?? undefined;
    if (withFiles) {
      await this.changes.write(conversationId, { ...change, leafId }, { isUnseen: isUndo, ...left && { undo: (after) => this.#goBack(conversationId, left, now, after) } });
      await this.#note(conversationId, CHANGED_SINCE, plan.steps.filter(isTheUsers));
    } else {
      await this.states.remember(conversationId, leafId, { state: plan.target, isElsewhere: true });
      await this.#note(conversationId, "These files are as the user had them on another branch, not as this conversation left them.", plan.steps);
    }
    return result;
  }

  /**
   * Takes back that a branch was left with its files: the conversation goes to its end, and the files to their state of
   * `before`. What was changed in them since the switch, which left `after`, stays where it can be merged.
   */
  async #goBack(conversationId: string, left: LeftBranch, before: string, after: string): Promise<void> {
    refuseIfRunning(this.chat, conversationId);
    const { leafId, state: base = after } = await this.states.at(conversationId);
    const plan = { ...(await withProgress(this.snapshots.plan(conversationId, base, before))), leafId, base, target: before, before };
    const navigate = () => this.client.request("coppice/navigate", { conversationId, targetId: left.leafId });
    const result = await this.changes.hold(conversationId, () => this.go(conversationId, plan, true, navigate, true));
    if (result.editorText !== undefined) this.chat.putDraft(conversationId, result.editorText, { ifEmpty: true });
    if (left.state?.isElsewhere === true) await this.states.remember(conversationId, left.leafId, left.state);
  }

  /** Offers to finish or to undo a change that was begun, where the conversation has moved or is to stay. */
  async resume(conversationId: string, change: FileChange): Promise<void> {
    try {
      const { left, target, text } = change;
      if (text !== undefined) this.chat.putDraft(conversationId, text, { ifEmpty: true });
      const leafId = change.leafId ?? (await this.states.at(conversationId)).leafId;
      if (left !== undefined && leafId === left.leafId) {
        await this.changes.forget(conversationId); // Neither has moved.
        return;
      }
      // Some of the files are still those of the other branch.
      if (left !== undefined) await this.states.remember(conversationId, leafId, { state: target, isElsewhere: true });
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

  async #finish(conversationId: string, change: FileChange): Promise<void> {
    const { left, base, target, before } = change;
    const plan = await this.#rest(conversationId, change, base, target);
    await this.#complete(conversationId, plan, left && { undo: (after) => this.#goBack(conversationId, left, before, after) });
  }

  async #undo(conversationId: string, change: FileChange): Promise<void> {
    const { left, target, before } = change;
    if (left !== undefined) {
      await this.#goBack(conversationId, left, before, target);
      return;
    }
    // Not from the state before: what the user had changed in it would be part of the way.
    const plan = await this.#rest(conversationId, change, target, before);
    await this.#complete(conversationId, { ...plan, before: plan.now });
  }

  /** What of a change is still to be done, on another way where it is undone. */
  async #rest(conversationId: string, change: FileChange, base: string, target: string): Promise<FilePlan> {
    refuseIfRunning(this.chat, conversationId);
    const { leafId } = await this.states.at(conversationId);
    const { steps, now } = await withProgress(this.snapshots.plan(conversationId, base, target));
    return { ...change, leafId, base, target, now, steps: steps.filter(({ shown }) => change.only?.includes(shown) !== false) };
  }

  async #complete(conversationId: string, plan: FilePlan, undoing: Undoing = {}): Promise<void> {
    const written = await this.changes.hold(conversationId, () => this.changes.write(conversationId, plan, { ...undoing, isUnseen: true }));
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

  /** What was not finished is not to be finished any more. */
  async forget(conversationId: string): Promise<void> {
    this.offers.cancel(conversationId);
    await this.changes.forget(conversationId);
  }

  #note(conversationId: string, what: string, steps: readonly PlacedStep[]): Promise<void> {
    return this.notes.set(conversationId, what, steps.map(({ shown }) => shown));
  }
}

/** What the user has changed goes along, or stays. */
function isTheUsers({ fate }: PlacedStep): boolean {
  return fate === "merged" || fate === "conflict";
}
