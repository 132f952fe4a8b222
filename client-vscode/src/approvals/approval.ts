/** What a person is asked to allow before a tool runs, and what they answer. Shared by the host and the Chat view's page. */
import * as v from "valibot";

import type { WorkMode } from "../modes/mode";

const hunk = v.object({
  /** The first line of the hunk in the old text and in the new one, counted from 1. */
  oldStart: v.number(),
  newStart: v.number(),
  /** Each begins with `+`, `-` or a space, as in a unified diff. */
  lines: v.array(v.string()),
});

/** A workspace folder, absolute and without symbolic links, and a path from it, with `/`. */
export const placed = v.object({ folder: v.string(), path: v.string() });

/** The keys are in the order in which tools write them: what was stored is compared as text. */
const detail = v.variant("kind", [
  /** A command line, and the folder in which it runs. */
  v.object({ kind: v.literal("command"), command: v.string(), directory: v.optional(v.string()), place: v.optional(placed) }),
  /** A change of one file; `diffDetail` computes it. */
  v.object({ kind: v.literal("diff"), path: v.string(), isNew: v.boolean(), hunks: v.array(hunk), place: v.optional(placed) }),
  /** Every argument, as the model wrote it. */
  v.object({ kind: v.literal("arguments"), arguments: v.record(v.string(), v.unknown()) }),
  /** A plan as Markdown. */
  v.object({ kind: v.literal("plan"), text: v.string() }),
  /** A sentence that a person should know before deciding, for instance that the path is ignored by Git. */
  v.object({ kind: v.literal("note"), text: v.string() }),
]);

const request = v.object({
  conversationId: v.string(),
  toolCallId: v.string(),
  /** The tool's name. */
  tool: v.string(),
  /** What would be done, in one line: `Run a command`, `Edit src/api.py`. */
  title: v.string(),
  details: v.array(detail),
  /**
   * What *Allow for This Conversation* covers: later requests of the conversation with the same scope are not asked.
   * Null offers no such choice.
   */
  scope: v.nullable(v.string()),
  /** What the scope is, in words that follow *allows*. */
  covers: v.optional(v.string()),
  /** It only reads what needs no question: under the policy `firstUse` it is allowed, unless a rule refuses or asks. */
  isReadOnly: v.optional(v.boolean()),
});

/** `always` is in every workspace. */
export const reach = v.picklist(["conversation", "workspace", "always"]);

const pending = v.object({
  ...request.entries,
  id: v.string(),
  /** The turn ended with the server or the window: nothing waits for the answer any more. */
  interrupted: v.boolean(),
  /** What a rule could allow, in a line. */
  proposal: v.optional(v.string()),
  /** Where that rule could hold. */
  reaches: v.optional(v.array(reach)),
  /** Why it is asked, where that does not show, in a sentence. */
  reason: v.optional(v.string()),
});

export type DiffHunk = v.InferOutput<typeof hunk>;
export type ApprovalDetail = v.InferOutput<typeof detail>;
export type ApprovalRequest = v.InferOutput<typeof request>;
export type PendingApproval = v.InferOutput<typeof pending>;

/** When a person is asked: before each use, before the first use of a scope in a conversation, or never. */
export type ApprovalPolicy = "always" | "firstUse" | "never";

/** `message` is what the person wants the model to know. */
export type ApprovalDecision =
  | { kind: "allow" }
  | { kind: "allowConversation" }
  /** Allows it from now on, by the rule that was proposed. */
  | { kind: "allowRule"; reach: v.InferOutput<typeof reach> }
  /** Approves a plan, as it is or as `plan`, to be carried out in a mode. */
  | { kind: "allowPlan"; mode: WorkMode; plan?: string | undefined }
  | { kind: "deny"; message?: string | undefined };

/** The whole text of a file that would be written; `before` is null for a file that does not exist. */
export interface ProposedText {
  /** Absolute. */
  path: string;
  before: string | null;
  after: string;
}

/** What a tool gets: whether it may run, and for the model why not. */
export type ApprovalResult = ({ allowed: true } & Approval) | { allowed: false; reason: string };

/** What a person added to their approval: of a plan the mode to carry it out in, and the plan or the text as they changed it. */
export interface Approval {
  /** It was allowed without a question, since it only reads. */
  isReadOnly?: true;
  mode?: WorkMode | undefined;
  plan?: string | undefined;
  text?: string | undefined;
}

/** Asks a person. The only part of `Approvals` that tools need, with `RuleSource`. */
export interface Approver {
  /**
   * Waits for the person's answer, however long it takes; a cancelled `token` counts as denied. `proposed` is what the
   * person can change before they allow it.
   */
  approve(request: ApprovalRequest, policy: ApprovalPolicy, token?: Cancellation, proposed?: ProposedText): Promise<ApprovalResult>;
}

/** The part of `vscode.CancellationToken` that is used. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): unknown };
}

/** The approvals in `value` that can be read; what cannot is left out. */
export function readPending(value: unknown): PendingApproval[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const parsed = v.safeParse(pending, each);
    return parsed.success ? [parsed.output] : [];
  });
}
