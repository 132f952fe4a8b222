import type { ApprovalDetail, ApprovalPolicy, Approver, Cancellation } from "../approvals/approval";
import { argumentDetails } from "../approvals/arguments";
import type { RuleSource } from "../permissions/rule";
import type { InvokeToolParams, InvokeToolResult, Tool } from "../protocol.gen";
import { type Mode, PRESENT_PLAN, type WorkMode } from "../modes/mode";
import type { Modes } from "../modes/modes";
import { DENIED, DeniedError, NOT_RUN, ToolError } from "./errors";
import { asked, FileRules } from "./file-rules";
import type { Host } from "./host";
import type { BuiltIn, Call, Output } from "./tool";
import { EDITS, editFile, writeFile } from "./tools/edit-files";
import { presentPlan } from "./tools/present-plan";
import { readFile } from "./tools/read-file";
import { runCommand } from "./tools/run-command";
import { listFiles, search } from "./tools/search";

/** Which of the built-in tools a model is offered. */
export type Access = "all" | "readOnly" | "none";

/** For the model. */
export const PLAN_ONLY = "The user has chosen to plan only: nothing can be changed or run. Present a plan instead.";

/** For the model. */
const STOPPED = "The turn was stopped.";

export const TOOLS: readonly BuiltIn[] = [readFile, listFiles, search, editFile, writeFile, runCommand];

/** What the user set for the tools. */
export interface ToolSettings {
  access: Access;
  policy: ApprovalPolicy;
  /** Whether commands that only read are judged by the list, where the policy is `firstUse`. */
  readOnlyCommands: boolean;
}

/** The built-in tools. */
export class Agent {
  readonly #host: Host;
  readonly #settings: () => ToolSettings;
  readonly #approver: Approver & RuleSource;
  readonly #modes: Pick<Modes, "of" | "set">;
  /** By conversation, the end of the last call that changes something: calls of one reply arrive together. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(host: Host, settings: () => ToolSettings, approver: Approver & RuleSource, modes: Pick<Modes, "of" | "set">) {
    this.#host = host;
    this.#settings = settings;
    this.#approver = approver;
    this.#modes = modes;
  }

  /** The tools that a model may call in a conversation now. */
  offered(conversationId: string): Tool[] {
    return this.#usable(this.#modes.of(conversationId)).map(({ definition }) => definition);
  }

  /** Whether a tool of this name is one of ours, offered or not. */
  knows(name: string): boolean {
    return name === PRESENT_PLAN || TOOLS.some(({ definition }) => definition.name === name);
  }

  /** For the question about a call of another extension's tool. Throws `DeniedError` where a rule refuses a file that it names. */
  async ruledArguments(conversationId: string, given: Record<string, unknown>, stop: AbortSignal): Promise<ApprovalDetail[]> {
    const { folders } = this.#host;
    return asked(await (await FileRules.of(this.#approver.rulesOf(conversationId), folders)).inArguments(given, folders, stop));
  }

  /** Runs a tool. What goes wrong is an answer for the model, and no error. */
  async invoke({ conversationId, toolCallId, name, arguments: given }: InvokeToolParams, stop: AbortSignal): Promise<InvokeToolResult> {
    const mode = (): Mode => this.#modes.of(conversationId);
    const tool = this.#usable(mode()).find(({ definition }) => definition.name === name);
    if (tool === undefined) return notRun(`The tool ${name} is not available.${this.#whyNot(mode())}`);
    const approve: Call["approve"] = async (request, proposed) => {
      const isAccepted = request.scope === EDITS && mode() === "acceptEdits";
      const policy = request.scope === null ? "always" : isAccepted ? "never" : this.#settings().policy;
      const answer = await this.#approver.approve({ conversationId, toolCallId, ...request }, policy, cancellation(stop), proposed);
      if (!answer.allowed) throw new DeniedError(answer.reason);
      // The mode may have been changed while the question waited.
      if (tool.changes && mode() === "plan") throw new ToolError(PLAN_ONLY);
      return answer;
    };
    const { policy, readOnlyCommands } = this.#settings();
    const call = { host: this.#host, conversationId, toolCallId, approve, readOnlyCommands: readOnlyCommands && policy === "firstUse", stop, setMode: (chosen: WorkMode) => { this.#modes.set(conversationId, chosen); } };
    try {
      const output = await this.#inOrder(conversationId, tool, async () => {
        const rules = this.#approver.rulesOf(conversationId);
        // What only reads has no question of its own.
        const isRuled = rules.some((rule) => rule.tool === name && rule.effect !== "allow");
        if (isRuled && !tool.changes && name !== PRESENT_PLAN) await approve({ tool: name, title: `Use ${name}`, details: argumentDetails(given), scope: null });
        const fileRules = await FileRules.of(rules, this.#host.folders);
        // What was stopped or has failed may have changed files before.
        const made = await tool.run(given, { ...call, fileRules }).catch((error: unknown) => {
          if (error instanceof DeniedError || error instanceof ToolError) throw error;
          return { text: stop.aborted ? STOPPED : `The tool failed: ${error instanceof Error ? error.message : String(error)}`, isError: true, ...stop.aborted && { details: NOT_RUN } };
        });
        const workspaceState = tool.changes ? await this.#host.recordState(conversationId) : undefined;
        return workspaceState === undefined ? made : { ...made, workspaceState };
      });
      if (output.change !== undefined) this.#host.made.add(output.change);
      return result(output);
    } catch (error) {
      if (stop.aborted) return notRun(STOPPED);
      if (error instanceof DeniedError) return { ...failed(error.message), details: DENIED };
      if (error instanceof ToolError) return notRun(error.message);
      return failed(`The tool failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #usable(mode: Mode): readonly BuiltIn[] {
    const access = this.#settings().access;
    if (access === "none" || this.#host.folders.length === 0) return [];
    const reading = TOOLS.filter(({ changes }) => !changes);
    if (access !== "all" || !this.#host.isTrusted) return reading;
    return mode === "plan" ? [...reading, presentPlan] : TOOLS;
  }

  #whyNot(mode: Mode): string {
    if (!this.#host.isTrusted) return " This workspace is not trusted: files can be read, and nothing can be changed or run.";
    return mode === "plan" ? ` ${PLAN_ONLY}` : "";
  }

  /** What changes something runs after the calls before it; what reads waits for them as well. */
  #inOrder(conversationId: string, { changes }: BuiltIn, run: () => Promise<Output>): Promise<Output> {
    const mine = (this.#last.get(conversationId) ?? Promise.resolve()).then(run);
    if (changes) this.#last.set(conversationId, mine.catch(() => undefined));
    return mine;
  }
}

function result({ text, isError = false, change, details, workspaceState, endsTurn = false }: Output): InvokeToolResult {
  const stored = { ...details, ...(change === undefined ? {} : { change }) };
  return {
    content: [{ type: "text", text }],
    isError,
    ...(Object.keys(stored).length === 0 ? {} : { details: stored }),
    ...(workspaceState === undefined ? {} : { workspaceState }),
    ...(endsTurn ? { endsTurn } : {}),
  };
}

/** The result of a call that was not carried out. */
export function notRun(text: string): InvokeToolResult {
  return { ...failed(text), details: NOT_RUN };
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
