import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { counted } from "../format";

const KEY = "coppice.modelNotes";
/** Files that a note names. A guess: more than a model reads again. */
const MOST_NAMED = 100;

/** By conversation, what its model is to know of the files before its next turn. */
export class ModelNotes {
  constructor(
    private readonly client: CoppiceClient,
    private readonly memory: vscode.Memento,
  ) {}

  /** `paths`: without any there is nothing to know. */
  async set(conversationId: string, what: string, paths: readonly string[]): Promise<void> {
    const names = paths.slice(0, MOST_NAMED);
    const more = paths.length > names.length ? ` and ${counted(paths.length - names.length, "more file")}` : "";
    await this.#update(conversationId, names.length === 0 ? undefined : `${what} Read them again before you change them: ${names.join(", ")}${more}.`);
  }

  /** Stores the note for the turn that is about to begin. */
  async beforeTurn(conversationId: string): Promise<void> {
    const content = this.#all[conversationId];
    if (content === undefined) return;
    await this.client.request("coppice/append", { conversationId, entries: [{ type: "custom_message", customType: "Note to the model", content, display: true }] });
    await this.#update(conversationId, undefined);
  }

  get #all(): Readonly<Record<string, string>> {
    return this.memory.get(KEY, {});
  }

  async #update(conversationId: string, note: string | undefined): Promise<void> {
    const others = Object.entries(this.#all).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(note === undefined ? others : [...others, [conversationId, note]]));
  }
}
