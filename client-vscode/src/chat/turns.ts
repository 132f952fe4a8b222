import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { offeredTools } from "../models/tools";
import type { PromptUpdate } from "../protocol.gen";

interface Turn {
  source: vscode.CancellationTokenSource;
  /** What has been told of the reply that is not complete, for a page that is shown again meanwhile. */
  pieces: PromptUpdate[];
  /** The user's message is stored. */
  heard: boolean;
}

/** What became of a prompt that did not end well. */
export class PromptFailure extends Error {
  /** `heard` tells whether the user's message was stored. */
  constructor(
    override readonly cause: unknown,
    readonly heard: boolean,
  ) {
    super("The turn failed.");
  }
}

/** The turns that run for this window's conversations, at most one for each. */
export class Turns implements vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #running = new Map<string, Turn>();
  readonly #updates = new vscode.EventEmitter<{ conversationId: string; update: PromptUpdate }>();
  readonly #changes = new vscode.EventEmitter<string>();

  readonly onUpdate = this.#updates.event;

  /** A turn of the conversation began or ended. */
  readonly onDidChange = this.#changes.event;

  constructor(client: CoppiceClient) {
    this.#client = client;
  }

  isRunning(conversationId: string): boolean {
    return this.#running.has(conversationId);
  }

  pieces(conversationId: string): readonly PromptUpdate[] {
    return this.#running.get(conversationId)?.pieces ?? [];
  }

  /** Runs a turn to its end. Throws `PromptFailure`. */
  async run(conversationId: string, content: string): Promise<void> {
    const turn: Turn = { source: new vscode.CancellationTokenSource(), pieces: [], heard: false };
    this.#running.set(conversationId, turn);
    this.#changes.fire(conversationId);
    try {
      const onPart = (update: PromptUpdate): void => {
        note(turn, update);
        this.#updates.fire({ conversationId, update });
      };
      const params = { conversationId, content, tools: offeredTools() };
      await this.#client.stream("coppice/prompt", params, onPart, turn.source.token);
    } catch (error) {
      throw new PromptFailure(error, turn.heard);
    } finally {
      this.#running.delete(conversationId);
      turn.source.dispose();
      this.#changes.fire(conversationId);
    }
  }

  /** Stops whatever runs for the conversation, also what somebody else began. */
  async stop(conversationId: string): Promise<void> {
    const turn = this.#running.get(conversationId);
    const { cancelled } = await this.#client.request("coppice/cancel", { conversationId });
    if (cancelled.length === 0) turn?.source.cancel();
  }

  dispose(): void {
    for (const { source } of this.#running.values()) source.cancel();
    this.#updates.dispose();
    this.#changes.dispose();
  }
}

function note(turn: Turn, update: PromptUpdate): void {
  const last = turn.pieces.at(-1);
  if (update.kind === "message") {
    turn.heard ||= update.message.role === "user";
    if (update.message.role === "assistant") turn.pieces = [];
  } else if (update.kind === "retry") {
    turn.pieces = [];
  } else if ((update.kind === "text" || update.kind === "thinking") && last?.kind === update.kind) {
    turn.pieces[turn.pieces.length - 1] = { kind: update.kind, text: last.text + update.text };
  } else if (update.kind !== "compaction") {
    turn.pieces.push(update);
  }
}
