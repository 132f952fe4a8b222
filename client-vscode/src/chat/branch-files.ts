import { randomUUID } from "node:crypto";

import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { Entry, NavigateResult } from "../protocol.gen";
import type { PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { ChatAccess, Feature } from "./feature";
import type { FilesOffer, FromPage, ToPage } from "./messages";

const PAGE = 100;
/** Entries that are looked through for a recorded state. A guess: more than a long turn has. */
const MOST_ENTRIES = 2000;
/** Files that an offer, or a note to the model, names. A guess: more than anybody reads. */
const MOST_NAMED = 100;
const KEY = "coppice.branchStates";
/** Branches of which a state is remembered. A guess: more than a workspace's conversations have. */
const MOST_BRANCHES = 500;

type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];
/** `leafId`: the end of the branch that would be left. `target`: the state that would be gone over to. */
type Plan = Awaited<ReturnType<WorkspaceSnapshots["plan"]>> & { leafId: string | undefined; target: string };

/** The state of a branch after its last turn. */
interface BranchState {
  state: string;
  /** The conversation went there without its files: what is on the disk belongs to another branch. */
  isElsewhere: boolean;
}

interface Asked {
  offer: FilesOffer;
  answer: (choice: Choice) => void;
}

/** Brings the files along when a conversation goes to another branch, as its user chooses. */
export class BranchFiles implements Feature {
  /** By conversation. */
  readonly #asked = new Map<string, Asked>();
  /** By conversation, what its model is to know of the files before its next turn. */
  readonly #notes = new Map<string, string>();

  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly memory: vscode.Memento,
  ) {
    client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
      if (changes.includes("deleted")) void snapshots.forget(conversationId);
    });
  }

  greet(post: (message: ToPage) => void): void {
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
   * Goes to an entry by `navigate`, with the files as the user chooses where they differ there. Undefined where the
   * conversation stays where it is.
   */
  async move(conversationId: string, targetId: string, navigate: () => Promise<NavigateResult>): Promise<NavigateResult | undefined> {
    const plan = await this.#planFor(conversationId, targetId).catch((error: unknown) => {
      this.snapshots.warn(`Whether files differ on the branch is not known. ${String(error)}`);
      return undefined;
    });
    if (plan === undefined) return navigate();
    const choice = plan.steps.length === 0 ? "both" : chosenBefore() ?? (await this.#ask(conversationId, "branch", plan.steps));
    if (choice === "cancel") return undefined;
    if (choice === "files") {
      await this.#write(conversationId, plan, plan.leafId);
      this.#note(conversationId, "The user brought these files to the state of another branch.", plan.steps.filter(isChanged));
      return undefined;
    }
    const result = await navigate();
    if (result.cancelled) return result;
    if (this.#branchState(conversationId, plan.leafId)?.isElsewhere !== true) await this.#remember(conversationId, plan.leafId, { state: plan.now, isElsewhere: false });
    if (choice === "both") {
      await this.#write(conversationId, plan, result.leafId ?? undefined);
      this.#note(conversationId, "The user has changed these files since.", plan.steps.filter(({ fate }) => fate === "merged" || fate === "conflict"));
    } else {
      await this.#remember(conversationId, result.leafId ?? undefined, { state: plan.target, isElsewhere: true });
      this.#note(conversationId, "These files are as the user had them on another branch, not as this conversation left them.", plan.steps);
    }
    return result;
  }

  /** Tells the model, before a turn, what has become of the files since its last one. */
  async beforeTurn(conversationId: string): Promise<void> {
    const content = this.#notes.get(conversationId);
    if (content === undefined) return;
    await this.client.request("coppice/append", { conversationId, entries: [{ type: "custom_message", customType: "Note to the model", content, display: true }] });
    this.#notes.delete(conversationId);
  }

  async #restore(conversationId: string, entryId: string): Promise<void> {
    if (!vscode.workspace.isTrusted) throw new Error("This workspace is not trusted: nothing in it can be changed.");
    const plan = await this.#planFor(conversationId, entryId);
    if (plan === undefined) throw new Error("The state of the files was not recorded at this message. It is recorded with each message where Git is installed.");
    if (plan.steps.length === 0) {
      void notify.info("The files are as they were at this message.");
      return;
    }
    if ((await this.#ask(conversationId, "restore", plan.steps)) !== "files") return;
    if (this.chat.isRunning(conversationId)) throw new Error("A turn is running, so no file was changed. Try again when it has ended.");
    await this.#write(conversationId, plan, plan.leafId);
    this.#note(conversationId, "The user brought these files to an earlier state.", plan.steps.filter(isChanged));
  }

  async #planFor(conversationId: string, targetId: string): Promise<Plan | undefined> {
    if (!vscode.workspace.isTrusted) return undefined;
    const [base, target] = await Promise.all([this.#stateAt(conversationId), this.#stateAt(conversationId, targetId)]);
    if (base.state === undefined || target.state === undefined) return undefined;
    const plan = await withProgress(this.snapshots.plan(conversationId, base.state, target.state));
    return { ...plan, leafId: base.leafId, target: target.state };
  }

  /** The state of the branch that ends at the entry, else the newest one on the path to the entry, by default to the leaf. */
  async #stateAt(conversationId: string, entryId?: string): Promise<{ leafId: string | undefined; state: string | undefined }> {
    let leafId: string | undefined;
    let before: string | undefined;
    for (let read = 0; read < MOST_ENTRIES; read += PAGE) {
      const params = { conversationId, backward: true, limit: PAGE, ...(entryId === undefined ? {} : { leafId: entryId }), ...(before === undefined ? {} : { before }) };
      const page: { entries: Entry[]; nextBefore?: string } = await this.client.request("coppice/entries", params);
      const last = page.entries.at(-1);
      leafId ??= last?.id;
      // Going to a message of the user's is going to before it.
      const isAsked = last?.type === "message" && last.message.role === "user";
      const remembered = before === undefined && !isAsked ? this.#branchState(conversationId, leafId)?.state : undefined;
      const state = remembered ?? page.entries.map(stateOf).findLast((each) => each !== undefined);
      if (state !== undefined || page.nextBefore === undefined) return { leafId, state };
      before = page.nextBefore;
    }
    return { leafId, state: undefined };
  }

  /** What is remembered of a branch by its end: the user may have changed files after its last turn. */
  #branchState(conversationId: string, leafId: string | undefined): BranchState | undefined {
    return leafId === undefined ? undefined : this.memory.get<Record<string, BranchState>>(KEY, {})[`${conversationId}/${leafId}`];
  }

  async #remember(conversationId: string, leafId: string | undefined, state: BranchState): Promise<void> {
    if (leafId === undefined) return;
    const key = `${conversationId}/${leafId}`;
    const others = Object.entries(this.memory.get<Record<string, BranchState>>(KEY, {})).filter(([other]) => other !== key);
    await this.memory.update(KEY, Object.fromEntries([...others, [key, state]].slice(-MOST_BRANCHES)));
  }

  #ask(conversationId: string, kind: FilesOffer["kind"], steps: readonly PlacedStep[]): Promise<Choice> {
    this.#asked.get(conversationId)?.answer("cancel");
    const files = steps.slice(0, MOST_NAMED).map(({ path, fate, added, removed }) => ({ path, fate, added, removed }));
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

  /** Changes the files of the branch that ends at `leafId`, and offers to undo that. */
  async #write(conversationId: string, plan: Plan, leafId: string | undefined): Promise<void> {
    const state = plan.steps.length === 0 ? plan.now : await withProgress(this.snapshots.write(conversationId, plan));
    await this.#remember(conversationId, leafId, { state, isElsewhere: false });
    void this.#offerUndo(conversationId, plan, leafId, state);
  }

  async #offerUndo(conversationId: string, { steps, now }: Plan, leafId: string | undefined, after: string): Promise<void> {
    const changed = steps.filter(isChanged);
    if (changed.length === 0 || (await notify.info(`Changed ${counted(changed.length, "file")}.`, "Undo")) !== "Undo") return;
    try {
      const state = await this.snapshots.write(conversationId, await this.snapshots.plan(conversationId, after, now));
      await this.#remember(conversationId, leafId, { state, isElsewhere: false });
      this.#note(conversationId, "The user has changed these files since.", changed);
    } catch (error) {
      void notify.error(sentence(error));
    }
  }

  /** Without files there is nothing to know. */
  #note(conversationId: string, what: string, steps: readonly PlacedStep[]): void {
    const names = steps.slice(0, MOST_NAMED).map(({ path }) => path);
    const more = steps.length > names.length ? ` and ${steps.length - names.length} more` : "";
    if (names.length === 0) this.#notes.delete(conversationId);
    else this.#notes.set(conversationId, `${what} Read them again before you change them: ${names.join(", ")}${more}.`);
  }
}

function isChanged({ fate }: PlacedStep): boolean {
  return fate !== "conflict";
}

/** Shows in the chat that something goes on: a large workspace takes seconds. */
function withProgress<T>(work: Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: { viewId: "coppice.chat" } }, () => work);
}

function stateOf(entry: Entry): string | undefined {
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  return message.role === "user" || message.role === "toolResult" ? message.workspaceState ?? undefined : undefined;
}

function chosenBefore(): Choice | undefined {
  const set = vscode.workspace.getConfiguration("coppice").get<string>("chat.branchFiles", "ask");
  return set === "always" ? "both" : set === "never" ? "conversation" : undefined;
}

async function keepChoice(choice: Choice): Promise<void> {
  const value = choice === "both" ? "always" : choice === "conversation" ? "never" : undefined;
  if (value !== undefined) await vscode.workspace.getConfiguration("coppice").update("chat.branchFiles", value, vscode.ConfigurationTarget.Global);
}
