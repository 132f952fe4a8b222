import { setTimeout as sleep } from "node:timers/promises";

import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { quotedName } from "../context/tags";
import { counted } from "../format";
import type { WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchStates } from "./branch-states";

const KEY = "coppice.modelNotes";
/** Files that a note names. A guess: more than a model reads again. */
const MOST_NAMED = 100;

/** Milliseconds that looking for the files may take before a turn, which begins then without their names. A guess: it is felt, and large workspaces take less. */
const PATIENCE = 1000;

/** For a model. */
const UNKNOWN = "The files may not be as this conversation left them: which ones differ is not known. Read them again before you change them.";

/** By conversation, why its model has to know before its next turn in which files the disk differs from its branch. */
export class ModelNotes {
  /** `patienceMs`: how long a turn waits for the names of the files. */
  constructor(
    private readonly client: CoppiceClient,
    private readonly snapshots: Pick<WorkspaceSnapshots, "differences" | "warn">,
    private readonly states: Pick<BranchStates, "at">,
    private readonly memory: vscode.Memento,
    private readonly patienceMs = PATIENCE,
  ) {}

  /** What the user did since the last turn, a sentence each; undefined where the model need not be told of files. */
  of(conversationId: string): readonly string[] | undefined {
    const reasons = this.#all[conversationId];
    return Array.isArray(reasons) ? reasons : undefined;
  }

  /** Where the conversation comes to another branch, what was done on the one that it leaves is no reason any more. */
  async set(conversationId: string, reasons: readonly string[]): Promise<void> {
    await this.#update(conversationId, reasons);
  }

  /** Adds what the user did. */
  async add(conversationId: string, why: string): Promise<void> {
    await this.#update(conversationId, withReason(this.of(conversationId), why));
  }

  /** Stores the note for the turn that is about to begin. `state`: of the files of now, undefined where it was not recorded. */
  async beforeTurn(conversationId: string, state: string | undefined): Promise<void> {
    const reasons = this.of(conversationId);
    if (reasons === undefined) return;
    const which = await this.#which(conversationId, state);
    const content = [...reasons, which].join(" ");
    if (which !== undefined) await this.client.request("coppice/append", { conversationId, entries: [{ type: "custom_message", customType: "Note to the model", content, display: true }] });
    await this.#update(conversationId, undefined);
  }

  /** Undefined where the files are as the branch left them, or it has read none. */
  async #which(conversationId: string, state: string | undefined): Promise<string | undefined> {
    const left = await this.states.at(conversationId, undefined, false);
    if (left.state === undefined && !left.isOld) return undefined;
    const names = left.state === undefined || left.isOld || state === undefined ? undefined : await this.#changed(left.state, state);
    if (names === undefined) return UNKNOWN;
    if (names.length === 0) return undefined;
    const more = names.length > MOST_NAMED ? ` and ${counted(names.length - MOST_NAMED, "more file")}` : "";
    return `These files are not as this conversation left them. Read them again before you change them: ${names.slice(0, MOST_NAMED).map(quotedName).join(", ")}${more}.`;
  }

  /** Undefined where that is not known, or not soon. */
  async #changed(from: string, to: string): Promise<string[] | undefined> {
    const names = this.snapshots.differences(from, to).then(
      (differences) => differences.map(({ shown }) => shown),
      (error: unknown) => { this.snapshots.warn(`In which files a branch differs is not known. ${String(error)}`); },
    );
    return await Promise.race([names, sleep(this.patienceMs)]) ?? undefined;
  }

  get #all(): Readonly<Record<string, string[]>> {
    return this.memory.get(KEY, {});
  }

  async #update(conversationId: string, reasons: readonly string[] | undefined): Promise<void> {
    const others = Object.entries(this.#all).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(reasons === undefined ? others : [...others, [conversationId, reasons]]));
  }
}

/** The newest last, each once. */
export function withReason(reasons: readonly string[] = [], why: string): string[] {
  return [...reasons.filter((each) => each !== why), why];
}
