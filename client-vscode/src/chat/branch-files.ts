import { randomUUID } from "node:crypto";

import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import { notify } from "../notify";
import type { BranchFile, NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchState, BranchStates } from "./branch-states";
import type { ChatAccess, Feature } from "./feature";
import { type FileChanges, type FilePlan, isChange, withProgress } from "./file-changes";
import type { FilesOffer, FromPage, ToPage } from "./messages";
import { leftFiles } from "./left-files";
import type { ModelNotes } from "./model-notes";

/** Files that an offer names. A guess: more than anybody reads. */
const MOST_NAMED = 100;

type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];

/** What the branch that is left changed in the files; undefined where that is not known. `beginId`: its first entry. */
export type LeftFiles = (beginId: string) => Promise<BranchFile[] | undefined>;

interface Asked {
  offer: FilesOffer;
  answer: (choice: Choice) => void;
}

/** Brings the files along when a conversation goes to another branch, as its user chooses. */
export class BranchFiles implements Feature {
  /** By conversation. */
  readonly #asked = new Map<string, Asked>();
  /** By conversation, a change of branch or files that a turn has to wait for. */
  readonly #going = new Map<string, Promise<unknown>>();
  #isExplained = false;

  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly states: BranchStates,
    private readonly changes: FileChanges,
    private readonly notes: ModelNotes,
  ) {
    client.onNotification("coppice/conversationChanged", ({ conversationId, changes: what }) => {
      if (what.includes("deleted")) void snapshots.forget(conversationId);
    });
    client.onNotification("coppice/didFork", ({ conversationId, forkId }) => void snapshots.share(forkId, conversationId));
  }

  greet(post: (message: ToPage) => void): void {
    void this.snapshots.readAhead(); // Whoever opens the chat is about to send a message.
    for (const [conversationId, { offer }] of this.#asked) post({ type: "filesOffer", conversationId, offer });
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type === "restoreFiles") {
      if (conversationId !== undefined) await this.#restore(conversationId, message.entryId);
      return true;
    }
    if (message.type !== "answerFiles") return false;
    const asked = [...this.#asked.values()].find(({ offer }) => offer.id === message.id);
    if (asked !== undefined && message.always) await keepChoice(message.choice);
    asked?.answer(message.choice);
    return true;
  }

  /**
   * Goes to an entry by `navigate`, with the files as the user chooses where they differ there; `navigate` can ask what
   * the branch that it leaves left in them. Undefined where the conversation stays where it is.
   */
  async move(conversationId: string, targetId: string, navigate: (left: LeftFiles) => Promise<NavigateResult>): Promise<NavigateResult | undefined> {
    const plan = await this.#planFor(conversationId, targetId).catch((error: unknown) => {
      this.snapshots.warn(`Whether files differ on the branch is not known. ${String(error)}`);
      return { failure: sentence(error) };
    }) ?? { failure: this.snapshots.failure && `Their state was not recorded. ${this.snapshots.failure}` };
    if ("failure" in plan) {
      this.#explain(plan.failure);
      return navigate((beginId) => this.#left(conversationId, beginId, []));
    }
    const choice = plan.steps.length === 0 ? "both" : this.#chosenBefore(plan.steps) ?? (await this.#ask(conversationId, "branch", plan.steps));
    return choice === "cancel" ? undefined : this.#hold(conversationId, () => this.#go(conversationId, plan, choice, navigate));
  }

  /** Says once in a window why files do not go along. Where nothing failed there is only no state, of an import for instance. */
  #explain(failure: string | undefined): void {
    if (failure === undefined || this.#isExplained || this.#chosenBefore([]) === "conversation") return;
    this.#isExplained = true;
    void notify.warn(`The files do not go along to another branch. ${failure}`);
  }

  /** Resolves when the conversation and its files are where its user brought them. */
  async settled(conversationId: string): Promise<void> {
    await this.#going.get(conversationId)?.catch(() => undefined);
  }

  async #go(conversationId: string, plan: FilePlan, choice: Exclude<Choice, "cancel">, navigate: (left: LeftFiles) => Promise<NavigateResult>, isUndo = false): Promise<NavigateResult | undefined> {
    if (choice === "files") {
      await this.#write(conversationId, plan, "The user brought these files to the state of another branch.");
      return undefined;
    }
    // The question may have waited for long.
    const now = (await this.snapshots.take(conversationId)) ?? plan.now;
    const left = plan.leafId === undefined ? undefined : { leafId: plan.leafId, state: this.states.of(conversationId, plan.leafId) };
    const result = await navigate((beginId) => this.#left(conversationId, beginId, choice === "both" ? plan.steps : []));
    if (result.cancelled) return result;
    if (left?.state?.isElsewhere !== true) await this.states.remember(conversationId, plan.leafId, { state: now, isElsewhere: false });
    const leafId = result.leafId ?? undefined;
    if (choice === "both") {
      await this.changes.write(conversationId, { ...plan, now, leafId }, { isUndo, ...left && { undo: (after) => this.#goBack(conversationId, { ...left, now, after }) } });
      await this.#note(conversationId, "The user has changed these files since.", plan.steps.filter(({ fate }) => fate === "merged" || fate === "conflict"));
    } else {
      await this.states.remember(conversationId, leafId, { state: plan.target, isElsewhere: true });
      await this.#note(conversationId, "These files are as the user had them on another branch, not as this conversation left them.", plan.steps);
    }
    return result;
  }

  /**
   * Takes back that a branch was left with its files: the conversation goes to its end, and the files to their state of
   * then, `now`. What was changed in them since the switch, which left `after`, stays where it can be merged.
   */
  async #goBack(conversationId: string, left: { leafId: string; state: BranchState | undefined; now: string; after: string }): Promise<void> {
    this.#refuseIfRunning(conversationId);
    const { leafId, state: base = left.after } = await this.states.at(conversationId);
    const plan = { ...(await withProgress(this.snapshots.plan(conversationId, base, left.now))), leafId, base, target: left.now };
    const navigate = () => this.client.request("coppice/navigate", { conversationId, targetId: left.leafId });
    const result = await this.#hold(conversationId, () => this.#go(conversationId, plan, "both", navigate, true));
    if (result?.editorText !== undefined) this.chat.putDraft(conversationId, result.editorText, { ifEmpty: true });
    if (left.state?.isElsewhere === true) await this.states.remember(conversationId, left.leafId, left.state);
  }

  /** What the branch that is left, which began with an entry, has changed, when steps will have been taken. */
  async #left(conversationId: string, beginId: string, steps: readonly PlacedStep[]): Promise<BranchFile[] | undefined> {
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

  /** Brings some files to the state of another branch, and leaves the conversation where it is. */
  async takeOver(conversationId: string, endId: string, choose: (steps: readonly PlacedStep[]) => Promise<readonly PlacedStep[]>): Promise<void> {
    // What the user changed since the last turn is nothing that the other branch may replace.
    const plan = await this.#requirePlan(conversationId, endId, false);
    const steps = [...(await choose(plan.steps))];
    if (steps.length === 0) return;
    await this.#hold(conversationId, () => this.#write(conversationId, { ...plan, steps, only: steps.map(({ shown }) => shown) }, "The user took these files over from another branch."));
  }

  /**
   * Takes back what a turn has changed from `target` to `base`, asking first where something stays or can make programs
   * run. False where it was not done; `onUndone` is called when the user takes that back.
   */
  async undoTurn(conversationId: string, states: { leafId: string; base: string; target: string }, onUndone: () => Promise<void>): Promise<boolean> {
    if (!vscode.workspace.isTrusted) throw new Error("This workspace is not trusted: nothing in it can be changed.");
    const plan = { ...(await withProgress(this.snapshots.plan(conversationId, states.base, states.target))), ...states };
    const isToBeSeen = plan.steps.some((step) => step.isControl || !isChange(step));
    if (isToBeSeen && (await this.#ask(conversationId, "restore", plan.steps)) !== "files") return false;
    await this.#hold(conversationId, () => this.#write(conversationId, plan, "The user undid your changes of these files.", onUndone));
    return true;
  }

  async #restore(conversationId: string, entryId: string): Promise<void> {
    const plan = await this.#requirePlan(conversationId, entryId);
    if (plan.steps.length === 0) {
      void notify.info("The files are as they were at this message.");
      return;
    }
    if ((await this.#ask(conversationId, "restore", plan.steps)) !== "files") return;
    await this.#hold(conversationId, () => this.#write(conversationId, plan, "The user brought these files to an earlier state."));
  }

  async #requirePlan(conversationId: string, entryId: string, remembers = true): Promise<FilePlan> {
    if (!vscode.workspace.isTrusted) throw new Error("This workspace is not trusted: nothing in it can be changed.");
    const plan = await this.#planFor(conversationId, entryId, remembers);
    if (plan === undefined) throw new Error("The state of the files was not recorded at this message. It is recorded with each message where Git is installed.");
    return plan;
  }

  async #planFor(conversationId: string, targetId: string, remembers = true): Promise<FilePlan | undefined> {
    if (!vscode.workspace.isTrusted) return undefined;
    const [base, target] = await Promise.all([this.states.at(conversationId, undefined, remembers), this.states.at(conversationId, targetId)]);
    if (base.state === undefined || target.state === undefined) return undefined;
    const plan = await withProgress(this.snapshots.plan(conversationId, base.state, target.state));
    return { ...plan, leafId: base.leafId, base: base.state, target: target.state };
  }

  /** Changes files of a conversation that stays where it is. `what` says to its model whose doing that was. */
  async #write(conversationId: string, plan: FilePlan, what: string, onUndone?: () => Promise<void>): Promise<void> {
    this.#refuseIfRunning(conversationId);
    const now = (await this.snapshots.take(conversationId)) ?? plan.now;
    await this.#note(conversationId, what, await this.changes.write(conversationId, { ...plan, now }, onUndone && { onUndone }));
  }

  #refuseIfRunning(conversationId: string): void {
    if (this.chat.isRunning(conversationId)) throw new Error("A turn is running, so no file was changed. Try again when it has ended.");
  }

  async #hold<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    const going = work();
    this.#going.set(conversationId, going);
    try {
      return await going;
    } finally {
      if (this.#going.get(conversationId) === going) this.#going.delete(conversationId);
    }
  }

  #ask(conversationId: string, kind: FilesOffer["kind"], steps: readonly PlacedStep[]): Promise<Choice> {
    this.#asked.get(conversationId)?.answer("cancel");
    // What can make programs run is always among those that are named.
    const order = [...steps].sort((one, other) => Number(other.isControl) - Number(one.isControl));
    const most = Math.max(MOST_NAMED, order.filter(({ isControl }) => isControl).length);
    const files = order.slice(0, most).map(({ shown, fate, added, removed, isControl }) => ({ path: shown, fate, added, removed, isControl }));
    const offer: FilesOffer = { id: randomUUID(), kind, files, more: steps.length - files.length };
    return new Promise((resolve) => {
      const answer = (choice: Choice): void => {
        this.#asked.delete(conversationId);
        this.chat.post({ type: "filesOffer", conversationId });
        resolve(choice);
      };
      this.#asked.set(conversationId, { offer, answer });
      this.chat.post({ type: "filesOffer", conversationId, offer });
    });
  }

  /** What makes programs run comes along only where a person has seen it. */
  #chosenBefore(steps: readonly PlacedStep[]): Choice | undefined {
    const set = vscode.workspace.getConfiguration("coppice").get<string>("chat.branchFiles", "ask");
    if (set === "never") return "conversation";
    return set === "always" && !steps.some((step) => step.isControl && isChange(step)) ? "both" : undefined;
  }

  #note(conversationId: string, what: string, steps: readonly PlacedStep[]): Promise<void> {
    return this.notes.set(conversationId, what, steps.map(({ shown }) => shown));
  }
}

async function keepChoice(choice: Choice): Promise<void> {
  const value = choice === "both" ? "always" : choice === "conversation" ? "never" : undefined;
  if (value !== undefined) await vscode.workspace.getConfiguration("coppice").update("chat.branchFiles", value, vscode.ConfigurationTarget.Global);
}
