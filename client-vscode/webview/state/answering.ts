/** The answer to a question by a key, which is meant for what the person has seen. */
import type { ApprovalDecision, PendingApproval } from "../../src/approvals/approval";

/** Milliseconds for which a new question takes no key: it could be meant for the one before. Longer than a double press. */
const UNREAD_MS = 500;

/** By question, when it came in sight, in milliseconds. */
export type SeenSince = Readonly<Record<string, number>>;

export function seenSince(before: SeenSince, approvals: readonly PendingApproval[], now: number): SeenSince {
  return Object.fromEntries(approvals.map(({ id }) => [id, before[id] ?? now]));
}

/** The question of a conversation that keys answer: the oldest that waits. */
export function answerable(approvals: readonly PendingApproval[], conversationId: string): PendingApproval | undefined {
  return approvals.find((each) => each.conversationId === conversationId && !each.interrupted);
}

/** What a key answers to a question; undefined while the question is new. */
export function answerOf({ id, details }: PendingApproval, key: "allow" | "deny", seen: SeenSince, now: number): ApprovalDecision | undefined {
  if (now - (seen[id] ?? now) < UNREAD_MS) return undefined;
  if (key === "deny") return { kind: "deny" };
  return details.some(({ kind }) => kind === "plan") ? { kind: "allowPlan", mode: "ask" } : { kind: "allow" };
}
