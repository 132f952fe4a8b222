import { randomUUID } from "node:crypto";

import {
  type ApprovalDecision,
  type ApprovalPolicy,
  type ApprovalRequest,
  type ApprovalResult,
  type Approver,
  type Cancellation,
  type PendingApproval,
  readPending,
} from "./approval";

const DENIED = "The user did not allow this.";
const CANCELLED = "The turn was stopped before the user answered.";

/** Where pending approvals are kept over a reload of the window: `vscode.Memento` with one key. */
export interface ApprovalMemory {
  read(): unknown;
  write(approvals: readonly PendingApproval[]): void;
}

/**
 * The questions that wait for a person, and what was allowed so far. A question that the end of the server or of the
 * window cut off stays as `interrupted`: its tool is not waiting any more, but the person can still decide.
 */
export class Approvals implements Approver {
  readonly #memory: ApprovalMemory;
  readonly #answers = new Map<string, (result: ApprovalResult) => void>();
  readonly #listeners = new Set<() => void>();
  /** Conversation and scope of what was allowed for the conversation; forgotten with the window. */
  readonly #scopes = new Set<string>();
  /** Interrupted requests that were allowed: the same request is not asked again, once. */
  readonly #once = new Set<string>();
  #pending: readonly PendingApproval[];

  constructor(memory: ApprovalMemory) {
    this.#memory = memory;
    this.#pending = readPending(memory.read()).map((each) => ({ ...each, interrupted: true }));
  }

  /** Oldest first; of one conversation where `conversationId` is given. */
  pending(conversationId?: string): readonly PendingApproval[] {
    return conversationId === undefined ? this.#pending : this.#pending.filter((each) => each.conversationId === conversationId);
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  approve(request: ApprovalRequest, policy: ApprovalPolicy, token?: Cancellation): Promise<ApprovalResult> {
    if (token?.isCancellationRequested) return Promise.resolve({ allowed: false, reason: CANCELLED });
    if (policy === "never" || this.#once.delete(sameRequest(request))) return Promise.resolve({ allowed: true });
    if (policy === "firstUse" && this.#isCovered(request)) return Promise.resolve({ allowed: true });
    const id = randomUUID();
    return new Promise((resolve) => {
      const cancelling = token?.onCancellationRequested(() => { this.#answer(id, { allowed: false, reason: CANCELLED }); });
      this.#answers.set(id, (result) => {
        cancelling?.dispose();
        resolve(result);
      });
      this.#put([...this.#pending, { ...request, id, interrupted: false }]);
    });
  }

  /** Answers a pending question; of an interrupted one it is the caller's to have the model try again. */
  decide(id: string, decision: ApprovalDecision): PendingApproval | undefined {
    const asked = this.#pending.find((each) => each.id === id);
    if (asked === undefined) return undefined;
    if (decision.kind === "deny") {
      this.#answer(id, { allowed: false, reason: denial(decision.message) });
      return asked;
    }
    if (asked.interrupted) this.#once.add(sameRequest(asked));
    const covered = decision.kind === "allowConversation" && asked.scope !== null ? scopeKey(asked) : undefined;
    if (covered !== undefined) this.#scopes.add(covered);
    for (const each of this.#pending) {
      const isCovered = covered !== undefined && !each.interrupted && scopeKey(each) === covered;
      if (each.id === id || isCovered) this.#answer(each.id, { allowed: true });
    }
    return asked;
  }

  /** The turn of a conversation has ended: nothing waits for its questions. `interrupted` keeps them to be seen. */
  endTurn(conversationId: string, interrupted: boolean): void {
    const reason = CANCELLED;
    for (const each of this.pending(conversationId)) {
      if (each.interrupted) continue;
      if (interrupted) this.#answers.delete(each.id);
      else this.#answer(each.id, { allowed: false, reason });
    }
    if (interrupted) this.#put(this.#pending.map((each) => (each.conversationId === conversationId ? { ...each, interrupted: true } : each)));
  }

  #isCovered(request: ApprovalRequest): boolean {
    const key = scopeKey(request);
    return key !== undefined && this.#scopes.has(key);
  }

  #answer(id: string, result: ApprovalResult): void {
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    this.#put(this.#pending.filter((each) => each.id !== id));
    answer?.(result);
  }

  #put(pending: readonly PendingApproval[]): void {
    this.#pending = pending;
    this.#memory.write(pending);
    for (const listener of this.#listeners) listener();
  }
}

function denial(message: string | undefined): string {
  const text = message?.trim() ?? "";
  return text === "" ? DENIED : `${DENIED} The user says: ${text}`;
}

function scopeKey({ conversationId, scope }: ApprovalRequest): string | undefined {
  return scope === null ? undefined : JSON.stringify([conversationId, scope]);
}

function sameRequest({ conversationId, tool, title, details }: ApprovalRequest): string {
  return JSON.stringify([conversationId, tool, title, details]);
}
