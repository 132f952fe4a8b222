import * as vscode from "vscode";

import { type Agent, PLAN_ONLY, notRun } from "../agent/agent";
import { DENIED, DeniedError } from "../agent/errors";
import type { Host } from "../agent/host";
import type { ApprovalPolicy, ApprovalResult, Approver } from "../approvals/approval";
import { argumentDetails } from "../approvals/arguments";
import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import type { Mode } from "../modes/mode";
import type { Modes } from "../modes/modes";
import { refusesAll, type RuleSource } from "../permissions/rule";
import type { InvokeToolParams, InvokeToolResult, Tool, UserContent } from "../protocol.gen";

/**
 * The built-in tools, and those of VS Code that the user chose; of two with one name it is the one that was chosen. Those
 * that a rule refuses whatever they are called with are left out.
 */
export function offeredTools(agent: Agent, rules: RuleSource, conversationId: string, mode: Mode): Tool[] {
  // What another extension's tool does is not known, so none of them is one that only reads.
  const chosen = mode === "plan" ? [] : chosenTools();
  const names = new Set(chosen.map(({ name }) => name));
  const tools = [...agent.offered(conversationId).filter(({ name }) => !names.has(name)), ...chosen];
  return tools.filter(({ name }) => !rules.rulesOf(conversationId).some((rule) => refusesAll(rule, name)));
}

/** The tools of VS Code that `coppice.chat.tools` names, and that are there. */
function chosenTools(): Tool[] {
  const enabled = enabledTools();
  return vscode.lm.tools
    .filter(({ name }) => enabled.has(name))
    .map(({ name, description, inputSchema }) => ({
      name,
      description,
      ...(inputSchema === undefined ? {} : { inputSchema: inputSchema as Record<string, unknown> }),
    }));
}

export function enabledTools(): Set<string> {
  return new Set(vscode.workspace.getConfiguration("coppice").get<string[]>("chat.tools", []));
}

/** Lets the server run tools, with the user's approval. A tool that is refused or fails is an answer, and no error. */
export function answerToolCalls(client: CoppiceClient, agent: Agent, approver: Approver, modes: Pick<Modes, "of">, host: Pick<Host, "recordState">): void {
  client.onRequest("coppice/invokeTool", async (params, token) => {
    const { conversationId, name } = params;
    const isChosen = chosenTools().some((tool) => tool.name === name);
    if (!isChosen && agent.knows(name)) return agent.invoke(params, abortSignal(token));
    if (!isChosen) return notRun(`The tool ${name} is not enabled.`);
    const isPlanOnly = (): boolean => modes.of(conversationId) === "plan";
    if (isPlanOnly()) return notRun(PLAN_ONLY);
    const result = await approvalOf(params, agent, approver, token);
    if (!result.allowed) return { ...failed(result.reason), details: DENIED };
    if (isPlanOnly()) return notRun(PLAN_ONLY);
    const made = await invoke(params, token);
    const workspaceState = await host.recordState(conversationId);
    return workspaceState === undefined ? made : { ...made, workspaceState };
  });
}

async function approvalOf({ conversationId, toolCallId, name, arguments: given }: InvokeToolParams, agent: Agent, approver: Approver, token: vscode.CancellationToken): Promise<ApprovalResult> {
  try {
    const ruled = await agent.ruledArguments(conversationId, given, abortSignal(token));
    const isRuled = ruled.length > 0;
    const request = { conversationId, toolCallId, tool: name, title: `Use ${name}`, details: [...ruled, ...argumentDetails(given)], scope: isRuled ? null : name, covers: `every use of ${name}` };
    return await approver.approve(request, isRuled ? "always" : approvalPolicy(), token);
  } catch (error) {
    if (error instanceof DeniedError) return { allowed: false, reason: error.message };
    if (token.isCancellationRequested) return { allowed: false, reason: "The turn was stopped." };
    throw error;
  }
}

/** When the user wants to be asked before a tool runs. */
export function approvalPolicy(): ApprovalPolicy {
  return vscode.workspace.getConfiguration("coppice").get<ApprovalPolicy>("chat.confirmTools", "firstUse");
}

async function invoke({ name, arguments: input }: InvokeToolParams, token: vscode.CancellationToken): Promise<InvokeToolResult> {
  try {
    const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
    return { content: result.content.map(content), isError: false };
  } catch (error) {
    return failed(sentence(error));
  }
}

function content(part: unknown): UserContent {
  if (part instanceof vscode.LanguageModelTextPart) return { type: "text", text: part.value };
  const value: unknown = part instanceof vscode.LanguageModelPromptTsxPart ? part.value : part;
  return { type: "text", text: JSON.stringify(value) };
}

function abortSignal(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  token.onCancellationRequested(() => { controller.abort(); });
  return controller.signal;
}

function failed(text: string): InvokeToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
