import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { CoppiceClient } from "../client";
import type { Attachment } from "../context/attachment";
import { ServerEndedError } from "../errors";
import type { PromptResult, PromptUpdate, Tool, UserContent } from "../protocol.gen";

/** Requests to the model that one turn may take. A guess: more than a long change needs, and an end for one that goes in circles. */
const MOST_STEPS = 200;

/** Seconds in all that a reply is waited for while its provider fails for the moment. A guess: half an hour. */
const PATIENCE = 1800;

/** What a turn is given. */
export interface Equipment {
  content: string | UserContent[];
  tools: Tool[];
  system: string;
  /** The name of the state that the files have. */
  workspaceState: string | undefined;
  /** Takes back what the message was given, where it was not stored. */
  restore: () => void;
}

/** Without `attachments` the message gets what is attached to the conversation. */
export type Equip = (conversationId: string, text: string, attachments?: readonly Attachment[]) => Promise<Equipment>;

/**
 * What a turn begins with: text and what is attached to it, or a message's content as it was stored before. One that is
 * resumed goes on where it was broken off.
 */
export type Outgoing = { text: string; attachments?: readonly Attachment[] } | { content: string | UserContent[] } | { resume: true };

interface Turn {
  source: vscode.CancellationTokenSource;
  /** The updates of the reply that is not complete, for a page that is opened again meanwhile. */
  pieces: PromptUpdate[];
  /** When the wait began that is the newest of the pieces, in milliseconds. */
  waitsSince: number;
  /** The user's message is stored. */
  isStored: boolean;
  /** A reply is stored that says what went wrong. */
  isExplained: boolean;
}

/** What became of a prompt that did not end well. */
export class PromptFailure extends Error {
  /** `isStored`: the user's message is. `isExplained`: a stored reply says what went wrong. `pieces`: of an unfinished reply. */
  constructor(
    override readonly cause: unknown,
    readonly isStored: boolean,
    readonly isExplained: boolean,
    readonly pieces: readonly PromptUpdate[],
  ) {
    super("The turn failed.");
  }
}

/** A turn that ended. `isDone`: it came to its own end. `isElsewhere`: another window or program ran it. */
export interface EndedTurn {
  conversationId: string;
  isDone: boolean;
  isElsewhere: boolean;
}

/** The turns that run for this window's conversations, at most one for each, and those that run elsewhere. */
export class Turns implements vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #equip: Equip;
  readonly #approvals: Approvals;
  #isDisposed = false;
  readonly #running = new Map<string, Turn>();
  /** The conversations whose turn runs in another window or program. */
  readonly #elsewhere = new Set<string>();
  readonly #listening: vscode.Disposable[];
  readonly #updates = new vscode.EventEmitter<{ conversationId: string; update: PromptUpdate }>();
  readonly #changes = new vscode.EventEmitter<string>();
  readonly #ends = new vscode.EventEmitter<EndedTurn>();

  readonly onUpdate = this.#updates.event;

  /** A turn of the conversation began or ended. */
  readonly onDidChange = this.#changes.event;

  readonly onDidEnd = this.#ends.event;

  constructor(client: CoppiceClient, approvals: Approvals, equip: Equip) {
    this.#client = client;
    this.#approvals = approvals;
    this.#equip = equip;
    this.#listening = [
      client.onNotification("coppice/turnChanged", ({ conversationId, turn }) => { this.noteElsewhere(conversationId, turn === "elsewhere"); }),
      client.onDidChangeState((state) => {
        if (state !== "running") for (const conversationId of [...this.#elsewhere]) this.noteElsewhere(conversationId, false);
      }),
    ];
  }

  isRunning(conversationId: string): boolean {
    return this.#running.has(conversationId) || this.#elsewhere.has(conversationId);
  }

  /** The conversations whose turn runs, here or elsewhere. */
  get running(): string[] {
    return [...this.#running.keys(), ...this.#elsewhere];
  }

  isElsewhere(conversationId: string): boolean {
    return this.#elsewhere.has(conversationId);
  }

  /** The server says whether another window or program runs a turn of the conversation. */
  noteElsewhere(conversationId: string, runs: boolean): void {
    if (this.#elsewhere.has(conversationId) === runs) return;
    if (runs) this.#elsewhere.add(conversationId);
    else this.#elsewhere.delete(conversationId);
    this.#changes.fire(conversationId);
    if (!runs) this.#ends.fire({ conversationId, isDone: true, isElsewhere: true });
  }

  /** Resolves when no turn of the conversation runs. */
  whenIdle(conversationId: string): Promise<void> {
    if (!this.isRunning(conversationId)) return Promise.resolve();
    return new Promise((resolve) => {
      const listening = this.onDidChange((changed) => {
        if (changed !== conversationId || this.isRunning(conversationId)) return;
        listening.dispose();
        resolve();
      });
    });
  }

  pieces(conversationId: string): readonly PromptUpdate[] {
    const turn = this.#running.get(conversationId);
    return (turn?.pieces ?? []).map((piece) => (piece.kind === "wait" ? { ...piece, seconds: left(piece.seconds, turn?.waitsSince ?? 0) } : piece));
  }

  /** Runs a turn to its end. Throws `PromptFailure`. */
  async run(conversationId: string, outgoing: Outgoing): Promise<void> {
    let isInterrupted = false;
    let isDone = false;
    let restore = (): void => undefined;
    const turn: Turn = { source: new vscode.CancellationTokenSource(), pieces: [], waitsSince: 0, isStored: "resume" in outgoing, isExplained: false };
    this.#running.set(conversationId, turn);
    this.#changes.fire(conversationId);
    try {
      const onPart = (update: PromptUpdate): void => {
        note(turn, update);
        this.#updates.fire({ conversationId, update });
      };
      for (let next: Outgoing | undefined = outgoing; next !== undefined; ) {
        const { restore: undo, content, workspaceState, ...equipment } = await this.#equip(conversationId, ..."text" in next ? [next.text, next.attachments] as const : ["", []] as const);
        restore = undo;
        const begins: { content?: string | UserContent[] } = "resume" in next ? {} : "content" in next ? next : { content };
        const state = workspaceState === undefined ? {} : { workspaceState };
        const params = { conversationId, maxSteps: MOST_STEPS, patience: PATIENCE, ...equipment, ...state, ...begins };
        const { stopReason }: PromptResult = await this.#client.stream("coppice/prompt", params, onPart, turn.source.token);
        // An approved plan is carried out at once, with the tools of its mode.
        next = stopReason === "tool" ? { resume: true } : undefined;
      }
      isDone = true;
    } catch (error) {
      isInterrupted = this.#isDisposed || error instanceof ServerEndedError;
      if (!turn.isStored) restore();
      throw new PromptFailure(error, turn.isStored, turn.isExplained, turn.pieces);
    } finally {
      this.#approvals.endTurn(conversationId, isInterrupted);
      this.#running.delete(conversationId);
      turn.source.dispose();
      this.#changes.fire(conversationId);
      this.#ends.fire({ conversationId, isDone, isElsewhere: false });
    }
  }

  /** Stops whatever runs for the conversation, also what somebody else began. */
  async stop(conversationId: string): Promise<void> {
    const turn = this.#running.get(conversationId);
    const { cancelled } = await this.#client.request("coppice/cancel", { conversationId });
    if (cancelled.length === 0) turn?.source.cancel();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const listening of this.#listening) listening.dispose();
    for (const { source } of this.#running.values()) source.cancel();
    this.#updates.dispose();
    this.#changes.dispose();
    this.#ends.dispose();
  }
}

function left(seconds: number, since: number): number {
  return Math.max(0, seconds - (Date.now() - since) / 1000);
}

function note(turn: Turn, update: PromptUpdate): void {
  if (turn.pieces.at(-1)?.kind === "wait") turn.pieces = [];
  const last = turn.pieces.at(-1);
  if (update.kind === "message") {
    turn.isStored ||= update.message.role === "user";
    if (update.message.role === "assistant") {
      turn.pieces = [];
      turn.isExplained = typeof update.message.errorMessage === "string";
    }
  } else if (update.kind === "retry") {
    turn.pieces = [];
  } else if (update.kind === "wait") {
    turn.pieces = [update];
    turn.waitsSince = Date.now();
  } else if ((update.kind === "text" || update.kind === "thinking") && last?.kind === update.kind) {
    turn.pieces[turn.pieces.length - 1] = { kind: update.kind, text: last.text + update.text };
  } else if (update.kind !== "compaction") {
    turn.pieces.push(update);
  }
}
