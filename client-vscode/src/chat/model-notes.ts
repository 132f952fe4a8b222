import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { quotedName } from "../context/tags";
import { counted } from "../format";
import type { WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";

const KEY = "coppice.modelNotes";
/** Files that a note names. A guess: more than a model reads again. */
const MOST_NAMED = 100;

/** By conversation, why its model has to know before its next turn in which files the disk differs from its branch. */
export class ModelNotes {
  constructor(
    private readonly client: CoppiceClient,
    private readonly snapshots: Pick<WorkspaceSnapshots, "differences" | "foresee" | "warn">,
    private readonly states: Pick<BranchStates, "at">,
    private readonly memory: vscode.Memento,
  ) {}

  /** `why`: what the user did, a sentence. */
  async add(conversationId: string, why: string): Promise<void> {
    await this.#update(conversationId, [...this.#of(conversationId).filter((each) => each !== why), why]);
  }

  /** Stores the note for the turn that is about to begin, with the files of now. */
  async beforeTurn(conversationId: string): Promise<void> {
    const reasons = this.#of(conversationId);
    if (reasons.length === 0) return;
    const which = await this.#which(conversationId);
    const content = [...reasons, which].join(" ");
    if (which !== undefined) await this.client.request("coppice/append", { conversationId, entries: [{ type: "custom_message", customType: "Note to the model", content, display: true }] });
    await this.#update(conversationId, []);
  }

  /** Undefined where the files are as the branch left them, or it has read none. */
  async #which(conversationId: string): Promise<string | undefined> {
    const left = await this.states.at(conversationId, undefined, false);
    if (left.state === undefined && !left.isOld) return undefined;
    const names = await this.#changedSince(conversationId, left.state).catch((error: unknown) => { this.snapshots.warn(`In which files a branch differs is not known. ${String(error)}`); });
    if (names === undefined || left.isOld) return "The files may not be as this conversation left them. Read them again before you change them.";
    if (names.length === 0) return undefined;
    const more = names.length > MOST_NAMED ? ` and ${counted(names.length - MOST_NAMED, "more file")}` : "";
    return `These files are not as this conversation left them. Read them again before you change them: ${names.slice(0, MOST_NAMED).map(quotedName).join(", ")}${more}.`;
  }

  async #changedSince(conversationId: string, state: string | undefined): Promise<string[] | undefined> {
    if (state === undefined) return undefined;
    const { now } = await this.snapshots.foresee(conversationId, []);
    return now === "" ? undefined : (await this.snapshots.differences(state, now)).map(({ shown }) => shown);
  }

  #of(conversationId: string): readonly string[] {
    const reasons = this.#all[conversationId];
    return Array.isArray(reasons) ? reasons : [];
  }

  get #all(): Readonly<Record<string, string[]>> {
    return this.memory.get(KEY, {});
  }

  async #update(conversationId: string, reasons: string[]): Promise<void> {
    const others = Object.entries(this.#all).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(reasons.length === 0 ? others : [...others, [conversationId, reasons]]));
  }
}
