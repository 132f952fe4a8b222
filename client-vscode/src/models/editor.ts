import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { SampleParams, SampleResult } from "../protocol.gen";
import { turns } from "./turns";

const NO_MODEL = "VS Code offers no language model at the moment. Install an extension that does, or run “Coppice: Set Up Model…”.";
const WHY = "Coppice answers in its chat and summarizes conversations with it.";

/** Lets the server ask the models that VS Code offers. VS Code asks the user's consent the first time. */
export function answerSamples(client: CoppiceClient): void {
  client.onRequest("coppice/sample", sample);
}

async function sample(params: SampleParams, token: vscode.CancellationToken): Promise<SampleResult> {
  const model = await chosenModel(params.purpose);
  const messages = turns(params.messages, params.system).map(({ role, text }) =>
    role === "assistant"
      ? vscode.LanguageModelChatMessage.Assistant(text)
      : vscode.LanguageModelChatMessage.User(text),
  );
  const options = { justification: WHY, modelOptions: { max_tokens: params.maxTokens } };
  const response = await model.sendRequest(messages, options, token);
  let text = "";
  for await (const piece of response.text) text += piece;
  return { text, model: model.id };
}

/** The model that the settings name by id, family or name; where they name none, the first that is offered. */
async function chosenModel(purpose: SampleParams["purpose"]): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels();
  const settings = vscode.workspace.getConfiguration("coppice");
  const own = purpose === "summary" ? settings.get<string | null>("summarizer.name") : null;
  const name = own ?? settings.get<string | null>("model.name") ?? "";
  const named = models.find(({ id, family, name: title }) => [id, family, title].includes(name));
  const model = name === "" ? models[0] : named;
  if (model !== undefined) return model;
  if (models.length === 0) throw new Error(NO_MODEL);
  throw new Error(`VS Code offers no model called ${name}, but ${models.map(({ id }) => id).join(", ")}.`);
}
