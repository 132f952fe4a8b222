import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import { notify } from "../notify";
import type { NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";
import { BranchSwitch, type Navigate, type Writing } from "./branch-switch";
import type { ChatAccess, Feature } from "./feature";
import { type FileChanges, type FilePlan, isChange, refuseIfRestricted, withProgress } from "./file-changes";
import { type Choice, FilesOffers } from "./files-offers";
import type { FromPage, ToPage } from "./messages";
import type { ModelNotes } from "./model-notes";

/** For a model. */
const COULD_NOT = "The user went to this branch, and its files could not go along.";

/** Why files do not go along. `from`: where the conversation is, if that is known. */
interface Failure {
  failure: string;
  from?: FilePlan | undefined;
}

/** Brings the files along when a conversation goes to another branch, as its user chooses. */
export class BranchFiles implements Feature {
  readonly #offers: FilesOffers;
  readonly #switch: BranchSwitch;
  readonly #explained = new Set<string>();

  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly changes: FileChanges,
    private readonly notes: ModelNotes,
    memory: vscode.Memento,
  ) {
    this.#offers = new FilesOffers(chat, memory);
    this.#switch = new BranchSwitch(chat, client, snapshots, states, changes, notes, this.#offers);
    client.onNotification("coppice/conversationChanged", ({ conversationId, changes: what }) => {
      if (!what.includes("deleted")) return;
      this.#offers.cancel(conversationId);
      void changes.forget(conversationId);
      void snapshots.forget(conversationId);
    });
    client.onNotification("coppice/didFork", ({ conversationId, forkId }) => void snapshots.share(forkId, conversationId));
  }

  greet(post: (message: ToPage) => void): void {
    void this.snapshots.readAhead(); // Whoever opens the chat is about to send a message.
    this.#offers.greet(post);
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type === "restoreFiles") {
      if (conversationId !== undefined) await this.#restore(conversationId, message.entryId);
      return true;
    }
    if (message.type !== "answerFiles") return false;
    await this.#offers.take(message);
    return true;
  }

  /**
   * Goes to an entry by `navigate`, with the files as the user chooses where they differ there; `navigate` can ask what
   * the branch that it leaves left in them. Undefined where the conversation stays where it is. `text`: what is sent then.
   */
  move(conversationId: string, targetId: string, navigate: Navigate, text?: string): Promise<NavigateResult | undefined> {
    return this.#offers.keeping(conversationId, text, () => this.#move(conversationId, targetId, navigate));
  }

  async #move(conversationId: string, targetId: string, navigate: Navigate): Promise<NavigateResult | undefined> {
    await this.#refuseUnfinished(conversationId);
    const plan = await this.#planFor(conversationId, targetId).catch((error: unknown): Failure => {
      this.snapshots.warn(`Whether files differ on the branch is not known. ${String(error)}`);
      return { failure: sentence(error) };
    });
    if (plan === undefined || "failure" in plan) {
      this.#offers.cancel(conversationId);
      const result = await this.#switch.hold(conversationId, () => this.#goWithout(conversationId, plan, navigate));
      if (plan !== undefined && !result.cancelled) this.#explain(conversationId, plan.failure);
      return result;
    }
    const choice = plan.steps.length === 0 ? "both" : this.#chosenBefore(plan.steps) ?? (await this.#offers.ask(conversationId, "branch", plan.steps));
    if (choice === "both" || choice === "conversation") return this.#switch.hold(conversationId, () => this.#switch.go(conversationId, plan, choice === "both", navigate));
    if (choice === "files") await this.#write(conversationId, plan, { why: "The user brought files to the state of another branch." });
    return undefined;
  }

  /** Goes to a branch whose files cannot go along, or were never recorded. */
  async #goWithout(conversationId: string, failed: Failure | undefined, navigate: Navigate): Promise<NavigateResult> {
    if (failed?.from !== undefined) return this.#switch.go(conversationId, failed.from, false, navigate, COULD_NOT);
    const result = await navigate((beginId) => this.#switch.left(conversationId, beginId, []));
    if (failed !== undefined && !result.cancelled) await this.notes.set(conversationId, [COULD_NOT]);
    return result;
  }

  /** Says why files do not go along, once for each conversation in a window. */
  #explain(conversationId: string, failure: string): void {
    if (this.#explained.has(conversationId) || this.#chosenBefore([]) === "conversation") return;
    this.#explained.add(conversationId);
    void notify.warn(`The files do not go along to another branch. ${failure}`);
  }

  /** Resolves when the conversation and its files are where its user brought them, before a turn. */
  async settled(conversationId: string): Promise<void> {
    await this.#switch.settled(conversationId).catch((error: unknown) => { this.snapshots.warn(`Whether a change of files was begun is not known. ${String(error)}`); });
  }

  /** No question takes the place of that about an unfinished change. */
  #refuseUnfinished(conversationId: string): Promise<void> {
    return this.#switch.hold(conversationId, () => Promise.resolve());
  }

  /** Offers to finish or to undo what the last window began and did not finish, in the chat of each conversation. */
  async resume(show: (conversationId: string) => void): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    await Promise.all(Object.keys(this.changes.unfinished).map((conversationId) => this.#switch.resume(conversationId, () => { show(conversationId); })));
  }

  /** Brings some files to the state of another branch, and leaves the conversation where it is. */
  async takeOver(conversationId: string, endId: string, choose: (steps: readonly PlacedStep[]) => Promise<readonly PlacedStep[]>): Promise<void> {
    await this.#refuseUnfinished(conversationId);
    // What the user changed since the last turn is nothing that the other branch may replace.
    const plan = await this.#requirePlan(conversationId, endId, false);
    const steps = [...(await choose(plan.steps))];
    if (steps.length > 0) await this.#write(conversationId, { ...plan, steps }, { why: "The user took files over from another branch.", isPart: true });
  }

  /**
   * Takes back what a turn has changed from `target` to `base`, asking first where something stays or can make programs
   * run. False where it was not done; `onUndone` is called when the user takes that back.
   */
  async undoTurn(conversationId: string, states: Omit<FilePlan, "steps"> & { target: string }, onUndone: () => Promise<void>): Promise<boolean> {
    refuseIfRestricted();
    await this.#refuseUnfinished(conversationId);
    const { steps } = await withProgress(this.snapshots.plan(conversationId, states.base, states.target));
    const isToBeSeen = steps.some((step) => step.isControl || !isChange(step));
    if (isToBeSeen && (await this.#offers.ask(conversationId, "restore", steps)) !== "files") return false;
    await this.#write(conversationId, { ...states, steps }, { why: "The user undid what your last turn changed in files.", isPart: true, onUndone });
    return true;
  }

  /** Undoes the last change of files, with the move of the conversation that belonged to it. */
  undoLast(conversationId: string): Promise<void> {
    return this.#switch.undoLast(conversationId);
  }

  async #restore(conversationId: string, entryId: string): Promise<void> {
    await this.#refuseUnfinished(conversationId);
    const plan = await this.#requirePlan(conversationId, entryId);
    if (plan.steps.length === 0) {
      void notify.info("The files are as they were at this message.");
      return;
    }
    if ((await this.#offers.ask(conversationId, "restore", plan.steps)) !== "files") return;
    await this.#write(conversationId, plan, { why: "The user brought files to an earlier state." });
  }

  async #requirePlan(conversationId: string, entryId: string, remembers = true): Promise<FilePlan> {
    refuseIfRestricted();
    const plan = await this.#planFor(conversationId, entryId, remembers);
    if (plan === undefined || "failure" in plan) throw new Error("The state of the files was not recorded at this message. It is recorded with each message where Git is installed.");
    return plan;
  }

  /** Undefined where no state was recorded and nothing failed: of an import, for instance. */
  async #planFor(conversationId: string, targetId: string, remembers = true): Promise<FilePlan | Failure | undefined> {
    const [base, target] = await Promise.all([this.states.at(conversationId, undefined, remembers), this.states.at(conversationId, targetId)]);
    if (!vscode.workspace.isTrusted) return base.state === undefined ? undefined : { failure: "This workspace is not trusted." };
    const before = base.base ?? base.state;
    if (before === undefined || target.state === undefined || target.isOld) {
      const { failure } = this.snapshots;
      if ((base.state ?? target.state ?? failure) === undefined) return undefined;
      const { leafId } = base;
      const from = before === undefined ? undefined : await this.snapshots.plan(conversationId, before, before).then(({ steps }) => ({ leafId, base: before, target: undefined, steps }), () => undefined);
      return { failure: `Their state was not recorded.${failure === undefined ? "" : ` ${failure}`}`, from };
    }
    const plan = await withProgress(this.snapshots.plan(conversationId, before, target.state));
    return { leafId: base.leafId, base: before, target: target.state, steps: plan.steps };
  }

  /** Changes files of a conversation that stays where it is. */
  #write(conversationId: string, plan: FilePlan, writing: Writing): Promise<void> {
    return this.#switch.hold(conversationId, () => this.#switch.write(conversationId, plan, writing));
  }

  /** What makes programs run comes along only where a person has seen it. */
  #chosenBefore(steps: readonly PlacedStep[]): Choice | undefined {
    const set = vscode.workspace.getConfiguration("coppice").get<string>("chat.branchFiles", "ask");
    if (set === "never") return "conversation";
    return set === "always" && !steps.some((step) => step.isControl && isChange(step)) ? "both" : undefined;
  }
}
