import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";

import type { Approval, ApprovalRequest, ProposedText } from "../approvals/approval";
import type { WorkMode } from "../modes/mode";
import type { Tool } from "../protocol.gen";
import { ToolError } from "./errors";
import type { FileChange } from "./file-change";
import type { FileRules } from "./file-rules";
import type { Host } from "./host";

export interface Call {
  host: Host;
  conversationId: string;
  toolCallId: string;
  /** Waits for a person, and throws `ToolError` where they refuse. With scope null each use is asked about. */
  approve(request: Omit<ApprovalRequest, "conversationId" | "toolCallId">, proposed?: ProposedText): Promise<Approval>;
  /** What the user's rules say of files. */
  fileRules: FileRules;
  /** Whether commands that only read need no question. */
  readOnlyCommands: boolean;
  /** The mode of the conversation from now on. */
  setMode(mode: WorkMode): void;
  /** Aborted when the turn is stopped. */
  stop: AbortSignal;
}

export interface Output {
  text: string;
  isError?: boolean;
  change?: FileChange;
  /** Stored with the text, for the one who reads the conversation. */
  details?: Record<string, unknown>;
  /** The name of the state that the files have after the call. */
  workspaceState?: string;
  /** The turn ends with this result, so that another can begin with other tools. */
  endsTurn?: boolean;
}

type Schema = v.GenericSchema<unknown, unknown>;

export interface BuiltIn {
  definition: Tool;
  /** Whether it changes files or runs something: then it waits for its turn, and needs a trusted workspace. */
  changes: boolean;
  run(given: Record<string, unknown>, call: Call): Promise<Output>;
}

/** A tool of ours. `schema` checks the arguments and describes them to the model. */
export function tool<S extends Schema>(
  name: string,
  description: string,
  schema: S,
  changes: boolean,
  run: (given: v.InferOutput<S>, call: Call) => Promise<Output>,
): BuiltIn {
  const inputSchema = { ...toJsonSchema(schema, { typeMode: "input", errorMode: "ignore" }) } as Record<string, unknown>;
  delete inputSchema["$schema"];
  return {
    definition: { name, description, inputSchema },
    changes,
    run: (given, call) => {
      const parsed = v.safeParse(schema, given);
      if (parsed.success) return run(parsed.output, call);
      const wrong = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "arguments"}: ${issue.message}`);
      throw new ToolError(`The arguments are wrong. ${wrong.join("; ")}.`);
    },
  };
}

export function described<S extends Schema>(schema: S, description: string): v.SchemaWithPipe<readonly [S, v.DescriptionAction<v.InferOutput<S>, string>]> {
  return v.pipe(schema, v.description(description));
}

export const text = (description: string, longest = 4_000_000) => described(v.pipe(v.string(), v.maxLength(longest)), description);
export const path = text("Relative to the workspace folder.");
