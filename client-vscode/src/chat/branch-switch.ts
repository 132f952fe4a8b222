import type { CoppiceClient } from "../client";
import { title } from "../conversation-list/model";
import { CoppiceError, sentence } from "../errors";
import { oneLine } from "../format";
import { notify } from "../notify";
import type { BranchFile, NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchState, BranchStates } from "./branch-states";
import type { ChatAccess } from "./feature";
import { type End, type FileChange, type FileChanges, type FilePlan, isChange, refuseIfRestricted, refuseIfRunning, report, withProgress } from "./file-changes";
import type { FilesOffers } from "./files-offers";
import { leftFiles } from "./left-files";
import { type ModelNotes, withReason } from "./model-notes";

/** For a model. */
const GONE_ON = "The conversation has gone on since, so this change is not undone.";
const WENT_WITHOUT = "The user went to this branch without its files.";
const CUT_OFF = "A change of files by the user was cut off.";

/** The button of a notification. */
const SHOW = "Show Chat";

/** Characters of a branch in the question, as many as a line of a narrow chat has. */
const NAME_LENGTH = 40;

/** Among which a name is looked for. A guess: the newest ones. */
const MOST_CONVERSATIONS = 1000;

/** What the branch that is left changed in the files; undefined where that is not known. `beginId`: its first entry. */
export type LeftFiles = (beginId: string) => Promise<BranchFile[] | undefined>;

export type Navigate = (left: LeftFiles) => Promise<NavigateResult>;

/** What is done with the files of a conversation that stays where it is. */
export interface Writing {
  /** For its model, what the user did. */
  why: string;
  /** Single files: the others are of the branch of which they were. */
  isPart?: boolean;
  /** Called when the user has taken the change back. */
  onUndone?: (() => Promise<void>) | undefined;
}

/** How a conversation or its files go to another end. */
interface Way extends Pick<Writing, "onUndone"> {
  /** As they were planned; else they are planned now, where nobody sees them. */
  steps?: readonly PlacedStep[];
  /** Takes the conversation there. */
  navigate?: (() => Promise<NavigateResult>) | undefined;
}

/** Takes a conversation and its files from one end to another, as one step, which the next window can finish or undo. */
export class BranchSwitch {
  /** The conversations whose unfinished change is asked about. */
  readonly #asking = new Set<string>();
  /** By conversation, the last change of this window, and what follows its undoing. */
  readonly #last = new Map<string, FileChange & Pick<Writing, "onUndone">>();

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
        if ((await this.#unfinished(conversationId)) !== undefined) throw new Error("A change of files was cut off. Finish it, undo it or leave the files first: the chat asks about it.");
        return work();
      });
    } catch (error) {
      void this.resume(conversationId);
      throw error;
    }
  }

  /** Resolves when nothing is under way that changes files or branch. A turn will move the conversation, too. */
  async settled(conversationId: string): Promise<void> {
    await this.changes.hold(conversationId, async () => {
      if ((await this.#unfinished(conversationId)) !== undefined) await this.notes.add(conversationId, CUT_OFF);
    });
  }

  /** Goes to another branch by `navigate`, with its files as planned or, for which `why` is the reason, without them. */
  async go(conversationId: string, plan: FilePlan, withFiles: boolean, navigate: Navigate, why = WENT_WITHOUT): Promise<NavigateResult> {
    const steps = withFiles ? plan.steps : [];
    const { from, to } = await this.#ends(conversationId, plan, steps);
    const target = withFiles ? to : { ...to, branch: { state: plan.target ?? from.state, base: plan.base }, reasons: [why] };
    const way = { steps, navigate: () => navigate((beginId) => this.left(conversationId, beginId, steps)) };
    return await this.#go(conversationId, from, target, way) ?? { leafId: plan.leafId ?? null, cancelled: true };
  }

  /** Changes files of a conversation that stays where it is. */
  async write(conversationId: string, plan: FilePlan, { why, isPart = false, onUndone }: Writing): Promise<void> {
    const { from, to } = await this.#ends(conversationId, plan, plan.steps);
    const branch = isPart && from.branch !== undefined ? await this.#branchWith(conversationId, from.branch, plan.steps.filter(isChange)) : undefined;
    await this.#go(conversationId, from, { ...to, branch, reasons: withReason(from.reasons, why) }, { steps: plan.steps, onUndone });
  }

  /** A branch whose files are not on the disk, when single files have been made its own. What the user changed in them stays the user's. */
  async #branchWith(conversationId: string, { state, base }: BranchState, steps: readonly PlacedStep[]): Promise<BranchState> {
    const [own, other] = await Promise.all([this.snapshots.outcome(conversationId, state, steps, true), base === undefined ? undefined : this.snapshots.outcome(conversationId, base, steps)]);
    return { state: own, base: other };
  }

  /** Where a conversation and its files are, and where steps lead. The question about them may have waited for long. */
  async #ends(conversationId: string, { leafId }: FilePlan, steps: readonly PlacedStep[]): Promise<{ from: End; to: End }> {
    this.offers.cancel(conversationId);
    refuseIfRunning(this.chat, conversationId);
    if (!(await this.states.isEnd(conversationId, leafId))) throw new Error("The conversation has gone on since. Try again.");
    const [{ now, after }, { leafId: end, state, base }] = await Promise.all([withProgress(this.snapshots.foresee(conversationId, steps.filter(isChange))), this.states.at(conversationId)]);
    const branch = base !== undefined && state !== undefined ? { state, base } : undefined;
    return { from: { leafId: end, state: now, branch, reasons: [...this.notes.of(conversationId) ?? []] }, to: { leafId: end, state: after, reasons: [] } };
  }

  /** Where the change is unfinished already, the record of it stays until it is done. */
  async #go(conversationId: string, from: End, to: End, { steps, navigate, onUndone }: Way): Promise<NavigateResult | undefined> {
    const isNew = this.changes.unfinished[conversationId] === undefined;
    // What the user wrote since the first end belongs to the branch that is left.
    const left = isNew && steps === undefined ? (await this.snapshots.foresee(conversationId, [])).now : from.state;
    if (isNew) await this.changes.record(conversationId, { from, to, isMoving: navigate !== undefined });
    const result = await navigate?.();
    if (result?.cancelled === true) {
      if (isNew) await this.changes.forget(conversationId);
      return result;
    }
    const there = result === undefined ? to : { ...to, leafId: result.leafId ?? undefined };
    if (isNew && navigate !== undefined) await this.#moved(conversationId, { from, to: there }, left);
    const taken = steps ?? (await withProgress(this.snapshots.plan(conversationId, from.state, to.state))).steps;
    const { state = to.state, stayed } = await withProgress(this.snapshots.write(conversationId, taken.filter(isChange)));
    await this.#arrive(conversationId, there, state);
    const written = taken.filter((step) => isChange(step) && !stayed.includes(step));
    const conflicts = steps === undefined ? taken.filter((step) => !isChange(step)) : [];
    if (written.length + conflicts.length + stayed.length > 0) {
      const done = { from, to: there };
      // Another window could not do what follows the undoing.
      await this.changes.recordDone(conversationId, onUndone === undefined ? done : undefined);
      this.#last.set(conversationId, { ...done, onUndone });
      void report(from.leafId === there.leafId ? "Changed" : "Went to the branch and changed", written, [...conflicts, ...stayed], () => this.#undo(conversationId, done, onUndone));
    }
    return result;
  }

  /** Records where the conversation went, when it has left an end. */
  async #moved(conversationId: string, { from, to }: FileChange, left = from.state): Promise<void> {
    await this.states.remember(conversationId, from.leafId, from.branch ?? { state: left });
    await this.states.remember(conversationId, to.leafId, to.branch ?? { state: to.state });
    await this.notes.set(conversationId, []);
    await this.changes.record(conversationId, { from, to });
  }

  async #arrive(conversationId: string, { leafId, branch, reasons }: End, state: string): Promise<void> {
    await this.states.remember(conversationId, leafId, branch ?? { state });
    await this.notes.set(conversationId, reasons);
    await this.changes.forget(conversationId);
  }

  /** The change that is not done. Finds out whether the conversation moved before it was cut off: where it did not, nothing was changed. */
  async #unfinished(conversationId: string): Promise<FileChange | undefined> {
    const change = this.changes.unfinished[conversationId];
    if (change === undefined) return undefined;
    try {
      const { leafId } = await this.states.at(conversationId);
      const { from, to, isMoving } = change;
      if (isMoving === true && (await this.states.isEnd(conversationId, from.leafId))) await this.changes.forget(conversationId);
      else if (isMoving === true) await this.#moved(conversationId, { from, to: { ...to, leafId } });
      const moved = this.changes.unfinished[conversationId];
      if (moved?.to.state !== from.state) return moved;
      await this.#arrive(conversationId, moved.to, moved.to.state); // No file was to be changed.
      return undefined;
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "unknown-conversation") throw error;
      await this.changes.forget(conversationId);
      return undefined;
    }
  }

  /** Asks what becomes of a change that is not done, until it is or the user puts that off. `show` leads to its chat, where nobody may be looking. */
  async resume(conversationId: string, show?: () => void): Promise<void> {
    if (this.#asking.has(conversationId)) {
      this.offers.repeat(conversationId);
      return;
    }
    this.#asking.add(conversationId);
    try {
      for (let isFirst = true; ; isFirst = false) {
        const change = await this.changes.hold(conversationId, () => this.#unfinished(conversationId));
        if (change === undefined) return;
        if (isFirst && show !== undefined) void this.#notify(conversationId, show);
        const choice = await this.offers.ask(conversationId, "unfinished", [], await this.#names(conversationId, change).catch(() => undefined));
        if (choice === "leave") await this.#leave(conversationId);
        if (choice !== "finish" && choice !== "undo") return;
        const work = () => (choice === "finish" ? this.#finish(conversationId, change) : this.#takeBack(conversationId, change));
        await this.changes.hold(conversationId, work).catch((error: unknown) => { void notify.error(sentence(error)); }); // A turn may run meanwhile.
      }
    } catch (error) {
      this.snapshots.warn(`Whether a change of files is to be finished is not known. ${String(error)}`);
    } finally {
      this.#asking.delete(conversationId);
    }
  }

  async #names(conversationId: string, { from, to }: FileChange): Promise<{ finish: string; undo: string } | undefined> {
    if (from.leafId === to.leafId) return undefined;
    const [undo, finish] = await Promise.all([from, to].map(async ({ leafId }) => oneLine(await this.states.lastAsked(conversationId, leafId), NAME_LENGTH)));
    return { finish: finish ?? "", undo: undo ?? "" };
  }

  async #leave(conversationId: string): Promise<void> {
    await this.notes.add(conversationId, CUT_OFF);
    await this.changes.forget(conversationId);
  }

  async #notify(conversationId: string, show: () => void): Promise<void> {
    const { conversations } = await this.client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS }).catch(() => ({ conversations: [] }));
    const conversation = conversations.find(({ id }) => id === conversationId);
    const name = conversation === undefined ? "" : ` in “${title(conversation)}”`;
    const answer = await notify.warn(`Files were being changed${name} when the window ended. Some of them may not be.`, SHOW);
    if (answer === SHOW) show();
  }

  /** Undoes what was done last, also in the window before; done once more, that is done again. */
  async undoLast(conversationId: string): Promise<void> {
    const change = this.#last.get(conversationId) ?? this.changes.last(conversationId);
    if (change === undefined) throw new Error("No change of files is left to undo in this conversation.");
    await this.#undo(conversationId, change, this.#last.get(conversationId)?.onUndone);
  }

  /** What was changed in the files since stays where it can be merged. */
  async #undo(conversationId: string, { from, to }: FileChange, onUndone: Writing["onUndone"]): Promise<void> {
    await this.hold(conversationId, async () => {
      if (!(await this.states.isEnd(conversationId, to.leafId))) throw new Error(GONE_ON);
      await this.#goTo(conversationId, to, from);
    });
    await onUndone?.();
  }

  /** Undoes what is not done; what moves the conversation only while that is at one of its ends. */
  async #takeBack(conversationId: string, { from, to }: FileChange): Promise<void> {
    const isAtEnd = from.leafId === to.leafId || (await this.states.isEnd(conversationId, to.leafId)) || (await this.states.isEnd(conversationId, from.leafId));
    if (!isAtEnd) throw new Error(GONE_ON);
    await this.#goTo(conversationId, to, from);
  }

  /** Where a turn has gone on since at the end to which the conversation went, it stays behind that turn. */
  async #finish(conversationId: string, { from, to }: FileChange): Promise<void> {
    const hasGoneOn = (await this.states.isOnPath(conversationId, to.leafId)) && !(await this.states.isEnd(conversationId, from.leafId));
    await this.#goTo(conversationId, from, to, hasGoneOn);
  }

  async #goTo(conversationId: string, from: End, to: End, stays = false): Promise<void> {
    refuseIfRestricted();
    refuseIfRunning(this.chat, conversationId);
    const isAlone = from.leafId === to.leafId;
    const isThere = await this.states.isEnd(conversationId, to.leafId);
    if (stays || isAlone || isThere) {
      // What is remembered is about the end of now.
      const { leafId } = await this.states.at(conversationId);
      const here = (end: End): End => ({ ...end, leafId, branch: isThere ? end.branch : undefined });
      await this.#go(conversationId, isThere && !isAlone ? from : here(from), here(to), {});
      return;
    }
    const result = await this.#go(conversationId, from, to, { navigate: () => this.#navigate(conversationId, to) });
    if (result?.editorText !== undefined) this.chat.putDraft(conversationId, result.editorText, { ifEmpty: true });
  }

  async #navigate(conversationId: string, { leafId }: End): Promise<NavigateResult> {
    const targetId = leafId ?? (await this.states.firstAsked(conversationId));
    if (targetId === undefined) throw new Error("The conversation begins with no message of yours, so it cannot go back to before it. Choose a branch in Branches.");
    const result = await this.client.request("coppice/navigate", { conversationId, targetId });
    if (result.cancelled) throw new Error("An extension kept the conversation on its branch.");
    return result;
  }

  /** What the branch that is left, which began with an entry, has changed, when steps will have been taken. */
  async left(conversationId: string, beginId: string, steps: readonly PlacedStep[]): Promise<BranchFile[] | undefined> {
    try {
      const [begin, end, now] = await Promise.all([this.states.at(conversationId, beginId), this.states.at(conversationId), this.snapshots.take(conversationId)]);
      if (begin.state === undefined || end.state === undefined || now === undefined) return undefined;
      return await leftFiles(this.snapshots, { begin: begin.state, end: end.base === undefined ? now : end.state, now }, steps);
    } catch (error) {
      this.snapshots.warn(`What the branch left in the files is not known. ${String(error)}`);
      return undefined;
    }
  }
}
