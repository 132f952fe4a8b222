import type { ApprovalPolicy, Approver, Cancellation } from "../approvals/approval";
import type { InvokeToolParams, InvokeToolResult, Tool } from "../protocol.gen";
import { ToolError } from "./errors";
import type { Host } from "./host";
import type { BuiltIn, Call, Output } from "./tool";
import { editFile, writeFile } from "./tools/edit-files";
import { readFile } from "./tools/read-file";
import { runCommand } from "./tools/run-command";
import { listFiles, search } from "./tools/search";

/** Which of the built-in tools a model is offered. */
export type Access = "all" | "readOnly" | "none";

const TOOLS: readonly BuiltIn[] = [readFile, listFiles, search, editFile, writeFile, runCommand];

/** What the user set for the tools. */
export interface ToolSettings {
  access: Access;
  policy: ApprovalPolicy;
}

/** The built-in tools. */
export class Agent {
  readonly #host: Host;
  readonly #settings: () => ToolSettings;
  readonly #approver: Approver;
  /** By conversation, the end of the last call that changes something: calls of one reply arrive together. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(host: Host, settings: () => ToolSettings, approver: Approver) {
    this.#host = host;
    this.#settings = settings;
    this.#approver = approver;
  }

  /** The tools that a model may call now. */
  offered(): Tool[] {
    return this.#usable().map(({ definition }) => definition);
  }

  /** Whether a tool of this name is one of ours, offered or not. */
  knows(name: string): boolean {
    return TOOLS.some(({ definition }) => definition.name === name);
  }

  /** Runs a tool. What goes wrong is an answer for the model, and no error. */
  async invoke({ conversationId, toolCallId, name, arguments: given }: InvokeToolParams, stop: AbortSignal): Promise<InvokeToolResult> {
    const found = this.#usable().find(({ definition }) => definition.name === name);
    if (found === undefined) {
      const why = this.#host.isTrusted ? "" : " This workspace is not trusted: files can be read, and nothing can be changed or run.";
      return failed(`The tool ${name} is not available.${why}`);
    }
    const approve: Call["approve"] = async (request) => {
      const policy = request.scope === null ? "always" : this.#settings().policy;
      const answer = await this.#approver.approve({ conversationId, toolCallId, ...request }, policy, cancellation(stop));
      if (!answer.allowed) throw new ToolError(answer.reason);
    };
    const call = { host: this.#host, approve, stop };
    try {
      const output = await this.#inOrder(conversationId, found, async () => {
        const made = await found.run(given, call);
        const workspaceState = found.changes ? await this.#host.recordState(conversationId) : undefined;
        return workspaceState === undefined ? made : { ...made, workspaceState };
      });
      if (output.change !== undefined) this.#host.made.add(output.change);
      return result(output);
    } catch (error) {
      if (stop.aborted) return failed("The turn was stopped.");
      if (error instanceof ToolError) return failed(error.message);
      return failed(`The tool failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #usable(): readonly BuiltIn[] {
    const access = this.#settings().access;
    if (access === "none" || this.#host.folders.length === 0) return [];
    return TOOLS.filter(({ changes }) => !changes || (access === "all" && this.#host.isTrusted));
  }

  /** What changes something runs after the calls before it; what reads waits for them as well. */
  #inOrder(conversationId: string, { changes }: BuiltIn, run: () => Promise<Output>): Promise<Output> {
    const mine = (this.#last.get(conversationId) ?? Promise.resolve()).then(run);
    if (changes) this.#last.set(conversationId, mine.catch(() => undefined));
    return mine;
  }
}

function result({ text, isError = false, change, details, workspaceState }: Output): InvokeToolResult {
  const stored = { ...details, ...(change === undefined ? {} : { change }) };
  return {
    content: [{ type: "text", text }],
    isError,
    ...(Object.keys(stored).length === 0 ? {} : { details: stored }),
    ...(workspaceState === undefined ? {} : { workspaceState }),
  };
}

function failed(text: string): InvokeToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function cancellation(stop: AbortSignal): Cancellation {
  return {
    get isCancellationRequested() {
      return stop.aborted;
    },
    onCancellationRequested: (listener) => {
      stop.addEventListener("abort", listener);
      return { dispose: () => { stop.removeEventListener("abort", listener); } };
    },
  };
}
