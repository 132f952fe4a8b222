import * as vscode from "vscode";

import type { CoppiceClient } from "./client";
import { CoppiceError } from "./errors";
import { type NextChoice, wireChoice } from "./models/choice";
import type { Conversation } from "./protocol.gen";

const KEY = "coppice.activeConversation";

/** Which conversation this window shows. It is remembered for the workspace. */
export class Conversations implements vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #memory: vscode.Memento;
  readonly #changes = new vscode.EventEmitter<string | undefined>();
  readonly #listening: vscode.Disposable[];

  /** Fires with the new active conversation's id, or undefined where there is none any more. */
  readonly onDidChangeActive = this.#changes.event;

  constructor(client: CoppiceClient, memory: vscode.Memento, private readonly choice: NextChoice) {
    this.#client = client;
    this.#memory = memory;
    this.#listening = [
      client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
        if (changes.includes("deleted") && conversationId === this.active) void this.select(undefined);
      }),
      client.onDidChangeState((state) => {
        if (state === "running") void this.#forgetWhatIsGone();
      }),
    ];
  }

  get active(): string | undefined {
    return this.#memory.get<string>(KEY);
  }

  /** The active conversation's id. Throws a sentence for people where there is none. */
  get current(): string {
    const id = this.active;
    if (id === undefined) throw new CoppiceError("No conversation is open. Open one, or start a new one.");
    return id;
  }

  async select(id: string | undefined): Promise<void> {
    if (id === this.active) return;
    // All follow at once: a chat that reported its old conversation meanwhile would undo the change.
    const stored = this.#memory.update(KEY, id);
    this.#changes.fire(id);
    await stored;
  }

  /** Makes a conversation of `folder`, by default the first workspace folder, with the model that was chosen last. */
  async make(name?: string, folder?: vscode.Uri): Promise<Conversation> {
    const params = { name: name ?? null, workspaceUri: folder?.toString() ?? null };
    const { conversation } = await this.#client.request("coppice/conversation/create", params);
    if (this.choice.isEmpty) return conversation;
    try {
      return (await this.#client.request("coppice/conversation/setModel", { conversationId: conversation.id, ...wireChoice(this.choice.current) })).conversation;
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "no-model") throw error;
      await this.choice.set({}); // The settings have no such model any more.
      return conversation;
    }
  }

  /** Makes a conversation as `make` does, and selects it. */
  async create(name?: string, folder?: vscode.Uri): Promise<Conversation> {
    const conversation = await this.make(name, folder);
    await this.select(conversation.id);
    return conversation;
  }

  dispose(): void {
    for (const each of this.#listening) each.dispose();
    this.#changes.dispose();
  }

  /** It may have been deleted while this window was closed. */
  async #forgetWhatIsGone(): Promise<void> {
    const conversationId = this.active;
    if (conversationId === undefined) return;
    try {
      await this.#client.request("coppice/conversation/get", { conversationId });
    } catch (error) {
      if (error instanceof CoppiceError && error.code === "unknown-conversation") await this.select(undefined);
    }
  }
}
