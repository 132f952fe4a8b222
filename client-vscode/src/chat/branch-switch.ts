import type { CoppiceClient } from "../client";
import { title } from "../conversation-list/model";
import { CoppiceError, sentence } from "../errors";
import { notify } from "../notify";
import type { BranchFile, NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";
import type { ChatAccess } from "./feature";
import { type FileChange, type FileChanges, type FilePlan, isChange, refuseIfRestricted, refuseIfRunning, type Undo, withProgress } from "./file-changes";
import type { FilesOffers } from "./files-offers";
import { leftFiles } from "./left-files";
import type { ModelNotes } from "./model-notes";

/** For a model, of its conversation's files. */
const CHANGED_SINCE = "The user has changed these files since.";

/** The button of a notification. */
const SHOW = "Show Chat";

/** Among which a name is looked for. A guess: the newest ones. */
const MOST_CONVERSATIONS = 1000;

/** What the branch that is left changed in the files; undefined where that is not known. `beginId`: its first entry. */
export type LeftFiles = (beginId: string) => Promise<BranchFile[] | undefined>;

/** `leafId`: the end of the branch whose files were changed; else they are those of the branch where one is. */
type UndoableChange = FileChange & { leafId?: string | undefined };

/** Takes a conversation to another branch with its files, as one step, which the next window can finish or undo. */
export class BranchSwitch {
  /** The conversations whose unfinished change is asked about. */
  readonly #asking = new Set<string>();

  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly changes: FileChanges,
    private readonly notes: ModelNotes,
    private readonly offers: FilesOffers,
  ) {}

  /**
   * Does a work that changes files or branch, for which turns wait. Refused where a change is unfinished; where this one
   * fails half way, it is asked about at once.
   */
  async hold<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.changes.hold(conversationId, async () => {
        if ((await this.#decide(conversationId)) !== undefined) throw new Error("A change of files was cut off. Finish it, undo it or leave the files first: the chat asks about it.");
        return work();
      });
    } catch (error) {
      void this.resume(conversationId);
      throw error;
    }
  }

  /** Resolves when nothing is under way that changes files or branch. A turn will move the conversation, too. */
  async settled(conversationId: string): Promise<void> {
    await this.changes.hold(conversationId, () => this.#decide(conversationId));
  }

  /** Goes by `navigate`. `withFiles`: as planned. `isUndo`: nobody has seen the plan. */
  async go(conversationId: string, plan: FilePlan, withFiles: boolean, navigate: (left: LeftFiles) => Promise<NavigateResult>, isUndo = false): Promise<NavigateResult> {
    this.offers.cancel(conversationId);
    // The question may have waited for long.
    refuseIfRunning(this.chat, conversationId);
    if ((await this.states.at(conversationId)).leafId !== plan.leafId) throw new Error("The conversation has gone on since. Try again.");
    const now = (await this.snapshots.take(conversationId)) ?? plan.now;
    const change: FilePlan = { ...plan, left: { leafId: plan.leafId, state: this.states.of(conversationId, plan.leafId) }, now, before: now, earlier: this.changes.unfinished[conversationId] };
    if (change.earlier !== undefined || (withFiles && plan.steps.some(isChange))) await this.changes.begin(conversationId, change);
    const result = await navigate((beginId) => this.left(conversationId, beginId, withFiles ? plan.steps : []));
    if (result.cancelled) {
      await this.#record(conversationId, change.earlier);
      return result;
    }
    const moved = { ...begun(change), leafId: result.leafId ?? undefined };
    await this.#remember(conversationId, moved, moved.leafId);
    if (withFiles) {
      await this.changes.write(conversationId, moved, this.undoOf(conversationId, moved), isUndo);
      await this.#note(conversationId, CHANGED_SINCE, plan.steps.filter(isTheUsers));
    } else {
      await this.#note(conversationId, "These files are as the user had them on another branch, not as this conversation left them.", plan.steps);
    }
    return result;
  }

  /** Remembers the files of both branches when the conversation has moved, and those on the disk have not. */
  async #remember(conversationId: string, { left, target, before }: FileChange, leafId: string | undefined): Promise<void> {
    if (left?.state?.isElsewhere !== true) await this.states.remember(conversationId, left?.leafId, { state: before, isElsewhere: false });
    await this.states.remember(conversationId, leafId, { state: target, isElsewhere: true });
  }

  /**
   * The change that is not done. Finds out whether the conversation moved before it was cut off: where it did not, nothing
   * was changed, and what is not done is what it was to undo.
   */
  async #decide(conversationId: string): Promise<FileChange | undefined> {
    const change = this.changes.unfinished[conversationId];
    if (change === undefined) return undefined;
    try {
      const { leafId } = await this.states.at(conversationId);
      if (change.left === undefined || change.hasMoved === true) return change;
      const isMoved = leafId !== change.left.leafId;
      if (isMoved) await this.#remember(conversationId, change, leafId);
      const decided = isMoved ? begun(change) : change.earlier;
      await this.#record(conversationId, decided);
      return decided;
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "unknown-conversation") throw error;
      await this.changes.forget(conversationId);
      return undefined;
    }
  }

  async #record(conversationId: string, unfinished: FileChange | undefined): Promise<void> {
    await (unfinished === undefined ? this.changes.forget(conversationId) : this.changes.begin(conversationId, unfinished));
  }

  /** Asks what becomes of a change that is not done, until it is or the user puts that off. `show` leads to its chat, where nobody may be looking. */
  async resume(conversationId: string, show?: () => void): Promise<void> {
    if (this.#asking.has(conversationId)) return;
    this.#asking.add(conversationId);
    try {
      for (let isFirst = true; ; isFirst = false) {
        const change = await this.changes.hold(conversationId, () => this.#decide(conversationId));
        if (change === undefined) return;
        if (isFirst && show !== undefined) void this.#notify(conversationId, show);
        const choice = await this.offers.ask(conversationId, "unfinished");
        if (choice === "leave") await this.changes.forget(conversationId);
        if (choice !== "finish" && choice !== "undo") return;
        const { earlier, target } = change;
        const isForward = (choice === "finish") === (earlier === undefined);
        const work = () => (isForward ? this.#finish(conversationId, change) : this.#undo(conversationId, { ...change, ...earlier && { before: earlier.target } }, target));
        await this.changes.hold(conversationId, work).catch((error: unknown) => { void notify.error(sentence(error)); }); // A turn may run meanwhile.
      }
    } catch (error) {
      this.snapshots.warn(`Whether a change of files is to be finished is not known. ${String(error)}`);
    } finally {
      this.#asking.delete(conversationId);
    }
  }

  async #notify(conversationId: string, show: () => void): Promise<void> {
    const { conversations } = await this.client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS }).catch(() => ({ conversations: [] }));
    const conversation = conversations.find(({ id }) => id === conversationId);
    const name = conversation === undefined ? "" : ` in “${title(conversation)}”`;
    const answer = await notify.warn(`Files were being changed${name} when the window ended. Some of them may not be.`, SHOW);
    if (answer === SHOW) show();
  }

  async #finish(conversationId: string, change: FileChange): Promise<void> {
    await this.#complete(conversationId, await this.#rest(conversationId, change, change.base, change.target));
  }

  /** Undoes a change later, as one. */
  undoOf(conversationId: string, change: UndoableChange): Undo {
    return (after) => this.hold(conversationId, () => this.#undo(conversationId, change, after));
  }

  async #undo(conversationId: string, change: UndoableChange, after: string): Promise<void> {
    if (change.left !== undefined) {
      await this.#goBack(conversationId, change.left, change.before, after);
      return;
    }
    // Not from the state before: what the user had changed in it would be part of the way.
    const plan = await this.#rest(conversationId, change, after, change.before);
    await this.#complete(conversationId, begun({ ...plan, leafId: change.leafId ?? plan.leafId, before: plan.now, earlier: this.changes.unfinished[conversationId] }));
  }

  /**
   * Takes back that a branch was left with its files: the conversation goes to its end, and the files to their state of
   * before. What was changed in them since the switch, which left `after`, stays where it can be merged.
   */
  async #goBack(conversationId: string, { leafId: targetId, state: remembered }: NonNullable<FileChange["left"]>, before: string, after: string): Promise<void> {
    if (targetId === undefined) throw new Error("The conversation cannot go back to before its first message.");
    refuseIfRestricted();
    refuseIfRunning(this.chat, conversationId);
    const { leafId, state: base = after } = await this.states.at(conversationId);
    const plan = { ...(await withProgress(this.snapshots.plan(conversationId, base, before))), leafId, base, target: before, before };
    const result = await this.go(conversationId, plan, true, () => this.client.request("coppice/navigate", { conversationId, targetId }), true);
    if (result.cancelled) throw new Error("An extension kept the conversation on its branch.");
    if (result.editorText !== undefined) this.chat.putDraft(conversationId, result.editorText, { ifEmpty: true });
    if (remembered?.isElsewhere === true) await this.states.remember(conversationId, targetId, remembered);
  }

  /** What of a change is still to be done, on another way where it is undone. */
  async #rest(conversationId: string, change: FileChange, base: string, target: string): Promise<FilePlan> {
    refuseIfRestricted();
    refuseIfRunning(this.chat, conversationId);
    const { leafId } = await this.states.at(conversationId);
    const { steps, now } = await withProgress(this.snapshots.plan(conversationId, base, target));
    return { ...change, leafId, base, target, now, steps: steps.filter(({ shown }) => change.only?.includes(shown) !== false) };
  }

  async #complete(conversationId: string, plan: FilePlan): Promise<void> {
    const written = await this.changes.write(conversationId, plan, this.undoOf(conversationId, plan), true);
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

/** A change when its conversation has moved. What undoes an undoing is again a change as the first one was. */
function begun<T extends FileChange>(change: T): T {
  return { ...change, hasMoved: true, earlier: change.earlier?.earlier === undefined ? change.earlier : undefined };
}

/** What the user has changed goes along, or stays. */
function isTheUsers({ fate }: PlacedStep): boolean {
  return fate === "merged" || fate === "conflict";
}
