import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import type { InvokeToolParams, InvokeToolResult, Tool, UserContent } from "../protocol.gen";
import { type Asking, Consent, type Decision } from "./consent";

const SHOWN_ARGUMENTS = 1500;

/** The tools of VS Code that the user lets models use: those that `coppice.chat.tools` names, and that are there. */
export function offeredTools(): Tool[] {
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

/** Lets the server run tools, with the user's consent. A tool that is refused or fails is an answer, and no error. */
export function answerToolCalls(client: CoppiceClient): void {
  const consent = new Consent();
  client.onRequest("coppice/invokeTool", async (params, token) => {
    if (!enabledTools().has(params.name)) return failed(`The tool ${params.name} is not enabled.`);
    const asking = vscode.workspace.getConfiguration("coppice").get<Asking>("chat.confirmTools", "firstUse");
    const isAllowed = await consent.given(params.conversationId, params.name, asking, () => ask(params));
    if (!isAllowed || token.isCancellationRequested) return failed("The user did not allow this.");
    return invoke(params, token);
  });
}

async function ask({ name, arguments: given }: InvokeToolParams): Promise<Decision> {
  const shown = JSON.stringify(given, undefined, 2).slice(0, SHOWN_ARGUMENTS);
  const here = "Allow in This Conversation";
  const message = `Allow the model to use ${name}?`;
  const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail: shown }, "Allow", here);
  if (chosen === here) return "conversation";
  return chosen === "Allow" ? "once" : "no";
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

function failed(text: string): InvokeToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
