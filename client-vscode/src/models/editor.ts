import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { SampleParams, SampleResult, Tool, ToolCall } from "../protocol.gen";
import { type Part, type Turn, turns } from "./turns";

const NO_MODEL = "VS Code offers no language model at the moment. Install an extension that does, or run “Coppice: Set Up Model…”.";
const WHY = "Coppice answers in its chat and summarizes conversations with it.";

/** Lets the server ask the models that VS Code offers. VS Code asks the user's consent the first time. */
export function answerSamples(client: CoppiceClient): void {
  client.onRequest("coppice/sample", (params, token) => sample(client, params, token));
}

async function sample(client: CoppiceClient, params: SampleParams, token: vscode.CancellationToken): Promise<SampleResult> {
  const model = await chosenModel(params);
  const tools = (params.tools ?? []).map(chatTool);
  const messages = turns(params.messages, params.system, tools.length > 0).map(chatMessage);
  const options = { justification: WHY, modelOptions: { max_tokens: params.maxTokens }, tools };
  const response = await model.sendRequest(messages, options, token);
  let text = "";
  const toolCalls: ToolCall[] = [];
  for await (const part of response.stream) {
    if (part instanceof vscode.LanguageModelTextPart) {
      text += part.value;
      if (params.partialResultToken !== undefined) {
        await client.sendPiece(params.partialResultToken, { kind: "text", text: part.value });
      }
    }
    if (part instanceof vscode.LanguageModelToolCallPart) {
      toolCalls.push({ type: "toolCall", id: part.callId, name: part.name, arguments: part.input as Record<string, unknown> });
    }
  }
  return { text, model: model.id, ...(toolCalls.length > 0 ? { toolCalls, stopReason: "toolUse" } : {}) };
}

/** The model that the server or the settings name by id, family or name; where they name none, the first that is offered. */
async function chosenModel({ purpose, model: asked }: SampleParams): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels();
  const settings = vscode.workspace.getConfiguration("coppice");
  const own = purpose === "summary" ? settings.get<string | null>("summarizer.name") : null;
  const name = asked ?? own ?? settings.get<string | null>("model.name") ?? "";
  const named = models.find(({ id, family, name: title }) => [id, family, title].includes(name));
  const model = name === "" ? models[0] : named;
  if (model !== undefined) return model;
  if (models.length === 0) throw new Error(NO_MODEL);
  throw new Error(`VS Code offers no model called ${name}, but ${models.map(({ id }) => id).join(", ")}.`);
}

function chatTool({ name, description, inputSchema }: Tool): vscode.LanguageModelChatTool {
  return { name, description: description ?? "", ...(inputSchema === undefined ? {} : { inputSchema }) };
}

function chatMessage({ role, parts }: Turn): vscode.LanguageModelChatMessage {
  const { Assistant, User } = vscode.LanguageModelChatMessageRole;
  return new vscode.LanguageModelChatMessage(role === "assistant" ? Assistant : User, parts.map(chatPart));
}

function chatPart(
  part: Part,
): vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart | vscode.LanguageModelToolResultPart {
  switch (part.type) {
    case "text":
      return new vscode.LanguageModelTextPart(part.text);
    case "toolCall":
      return new vscode.LanguageModelToolCallPart(part.id, part.name, part.arguments);
    case "toolResult":
      return new vscode.LanguageModelToolResultPart(part.toolCallId, [new vscode.LanguageModelTextPart(part.text)]);
  }
}
