import { randomUUID } from "node:crypto";

import { describe, proposalOf, refusalBy, type Rule, type RuleSource } from "../permissions/rule";
import { type Reach, reachesOf, type RuleMemory, Rules, type Verdict } from "../permissions/rules";
import {
  type ApprovalDecision,
  type ApprovalPolicy,
  type ApprovalRequest,
  type ApprovalResult,
  type Approver,
  type Cancellation,
  type PendingApproval,
  type ProposedText,
  readPending,
} from "./approval";

const DENIED = "The user did not allow this.";
const CANCELLED = "The turn was stopped before the user answered.";

/** For rules that last no longer than the window. */
const FORGETTING: RuleMemory = { read: () => [], write: () => undefined };

/** Where pending approvals are kept over a reload of the window: `vscode.Memento` with one key. */
export interface ApprovalMemory {
  read(): unknown;
  write(approvals: readonly PendingApproval[]): void;
}

/**
 * The questions that wait for a person, and what was allowed so far. A question that the end of the server or of the
 * window cut off stays as `interrupted`: its tool is not waiting any more, but the person can still decide.
 */
export class Approvals implements Approver, RuleSource {
  readonly #memory: ApprovalMemory;
  readonly #rules: Rules;
  readonly #answers = new Map<string, (result: ApprovalResult) => void>();
  /** Not kept over a reload: nothing waits for it then. */
  readonly #proposed = new Map<string, ProposedText>();
  readonly #listeners = new Set<() => void>();
  /** Conversation and scope of what was allowed for the conversation; forgotten with the window. */
  readonly #scopes = new Set<string>();
  /** Interrupted requests that were allowed: the same request is not asked again, once. */
  readonly #once = new Set<string>();
  #pending: readonly PendingApproval[];
  /** Gives what the person has made of a proposed text; undefined where they left it as it is. */
  changedText: (id: string) => string | undefined = () => undefined;

  constructor(memory: ApprovalMemory, rules = new Rules({ workspace: FORGETTING, always: FORGETTING })) {
    this.#memory = memory;
    this.#rules = rules;
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

  /** What would be written, where a question that waits is about that. */
  proposedText(id: string): ProposedText | undefined {
    return this.#proposed.get(id);
  }

  rulesOf(conversationId: string): Rule[] {
    return this.#rules.of(conversationId);
  }

  approve(request: ApprovalRequest, policy: ApprovalPolicy, token?: Cancellation, proposedText?: ProposedText): Promise<ApprovalResult> {
    if (token?.isCancellationRequested) return Promise.resolve({ allowed: false, reason: CANCELLED });
    const verdict = this.#rules.decide(request);
    if (verdict?.effect === "deny") return Promise.resolve({ allowed: false, reason: refusalBy(verdict.rule) });
    const isAsked = this.#isAsked(request, verdict);
    if ((policy === "never" && !isAsked) || this.#once.delete(sameRequest(request))) return Promise.resolve({ allowed: true });
    if (policy === "firstUse" && !isAsked && request.isReadOnly === true) return Promise.resolve({ allowed: true, isReadOnly: true });
    if (policy === "firstUse" && !isAsked && this.#isCovered(request)) return Promise.resolve({ allowed: true });
    const id = randomUUID();
    return new Promise((resolve) => {
      const cancelling = token?.onCancellationRequested(() => { this.#answer(id, { allowed: false, reason: CANCELLED }); });
      this.#answers.set(id, (result) => {
        cancelling?.dispose();
        resolve(result);
      });
      if (proposedText !== undefined) this.#proposed.set(id, proposedText);
      const proposal = policy === "firstUse" && !isAsked ? proposalOf(request) : undefined;
      const proposed = proposal === undefined ? {} : { proposal: describe(proposal), reaches: reachesOf(proposal) };
      const reason = verdict?.isHidden === true ? { reason: reasonOf(verdict) } : {};
      this.#put([...this.#pending, { ...request, id, interrupted: false, ...proposed, ...reason }]);
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
    if (decision.kind === "allowConversation") this.#cover(asked);
    if (decision.kind === "allowRule") this.#addRule(asked, decision.reach);
    const isMore = decision.kind !== "allow";
    const added = decision.kind === "allowPlan" ? { mode: decision.mode, plan: decision.plan } : {};
    for (const each of this.#pending) {
      const isCovered = isMore && !each.interrupted && !this.#isAsked(each) && this.#isCovered(each);
      const text = this.changedText(each.id);
      if (each.id === id || isCovered) this.#answer(each.id, { allowed: true, ...(each.id === id ? added : {}), ...(text === undefined ? {} : { text }) });
    }
    return asked;
  }

  /** The turn of a conversation has ended: nothing waits for its questions. `interrupted` keeps them to be seen. */
  endTurn(conversationId: string, interrupted: boolean): void {
    const reason = CANCELLED;
    for (const each of this.pending(conversationId)) {
      if (each.interrupted) continue;
      if (interrupted) {
        this.#answers.delete(each.id);
        this.#proposed.delete(each.id);
      }
      else this.#answer(each.id, { allowed: false, reason });
    }
    if (interrupted) this.#put(this.#pending.map((each) => (each.conversationId === conversationId ? { ...each, interrupted: true } : each)));
  }

  #cover(asked: PendingApproval): void {
    const key = scopeKey(asked);
    if (key !== undefined) this.#scopes.add(key);
  }

  /** The page says where the rule holds; what it allows is computed from the request. */
  #addRule(asked: PendingApproval, reach: Reach): void {
    const rule = asked.proposal === undefined ? undefined : proposalOf(asked);
    if (rule !== undefined && reachesOf(rule).includes(reach)) this.#rules.add({ rule, reach, conversationId: asked.conversationId });
  }

  #isCovered(request: ApprovalRequest): boolean {
    return request.scope !== null && (this.#isInScope(request) || this.#rules.decide(request)?.effect === "allow");
  }

  /** Whether a rule asks. What a line could merely hide is asked about until its scope was allowed. */
  #isAsked(request: ApprovalRequest, verdict = this.#rules.decide(request)): boolean {
    return verdict?.effect === "ask" && !(verdict.isHidden && this.#isInScope(request));
  }

  #isInScope(request: ApprovalRequest): boolean {
    const key = scopeKey(request);
    return key !== undefined && this.#scopes.has(key);
  }

  #answer(id: string, result: ApprovalResult): void {
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    this.#proposed.delete(id);
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

function reasonOf({ rule }: Verdict): string {
  return `A rule ${rule.effect === "deny" ? "denies" : "asks about"} ${describe(rule)}, which this line could hide.`;
}

function scopeKey({ conversationId, scope }: ApprovalRequest): string | undefined {
  return scope === null ? undefined : JSON.stringify([conversationId, scope]);
}

function sameRequest({ conversationId, tool, title, details }: ApprovalRequest): string {
  return JSON.stringify([conversationId, tool, title, details]);
}
