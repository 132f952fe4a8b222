import * as vscode from "vscode";

import { sentence } from "../errors";
import { shortTokens } from "../format";
import { type Endpoint, KeyRefusedError, listModels, type OfferedModel, testModel } from "../models/endpoint";
import { notify } from "../notify";

const OTHER = "Another Model…";

/** Asks for a model of the endpoint, from its list where it has one. Undefined where the user leaves. Throws `KeyRefusedError`. */
export async function chooseModel(endpoint: Endpoint, current: string): Promise<OfferedModel | undefined> {
  const listed = await withProgress("Asking the endpoint for its models", () => listModels(endpoint)).catch(sentenceUnlessKey);
  if (typeof listed === "string" || listed.length === 0) return typedModel(current, typeof listed === "string" ? listed : "The endpoint lists no models.");
  const items = [
    ...listed.map((model) => ({
      label: model.id,
      description: [model.contextWindow === undefined ? "" : `${shortTokens(model.contextWindow)} tokens`, model.id === current ? "in use" : ""].filter((part) => part !== "").join(" · "),
      model,
    })),
    { label: OTHER, description: "", model: undefined },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: "Model", placeHolder: "Which model answers?", ignoreFocusOut: true });
  if (picked === undefined) return undefined;
  return picked.model ?? typedModel(current, "");
}

async function typedModel(value: string, why: string): Promise<OfferedModel | undefined> {
  const validateInput = (given: string) => (given.trim() === "" ? "A model has a name." : undefined);
  const prompt = `${why} The model's name, as the provider writes it.`.trim();
  const name = await vscode.window.showInputBox({ title: "Model", prompt, value, validateInput, ignoreFocusOut: true });
  return name === undefined ? undefined : { id: name.trim() };
}

/** The model's window in tokens: what the endpoint reports, or else what the user enters; null keeps the default. */
export async function chooseWindow(model: OfferedModel): Promise<number | null | undefined> {
  if (model.contextWindow !== undefined) return model.contextWindow;
  const prompt = `How many tokens fit into the window of ${model.id}? The endpoint does not report it. Empty: 200,000.`;
  const validateInput = (given: string) => (/^[\s\d,._]*k?$/i.test(given.trim()) ? undefined : "A number of tokens, for example 128000 or 128k.");
  const given = await vscode.window.showInputBox({ title: "Context Window", prompt, validateInput, ignoreFocusOut: true });
  return given === undefined ? undefined : tokensOf(given);
}

/** `128k` and `128,000` are 128,000; nothing is null. */
export function tokensOf(text: string): number | null {
  const digits = text.replace(/\D/g, "");
  if (digits === "") return null;
  return Number(digits) * (/k\s*$/i.test(text) ? 1000 : 1) || null;
}

/** Asks the model something; whether it is to be used. Throws `KeyRefusedError`. */
export async function isUsable(endpoint: Endpoint, model: string): Promise<boolean> {
  try {
    await withProgress(`Testing ${model}`, () => testModel(endpoint, model));
    void notify.info(`${model} answers.`);
    return true;
  } catch (error) {
    return (await notify.confirm(`${model} does not answer.`, sentenceUnlessKey(error), "Use It Anyway")) !== undefined;
  }
}

/** What went wrong, unless another key is what helps. */
function sentenceUnlessKey(error: unknown): string {
  if (error instanceof KeyRefusedError) throw error;
  return sentence(error);
}

function withProgress<T>(title: string, work: () => Promise<T>): Thenable<T> & { catch: Promise<T>["catch"] } {
  const location = vscode.ProgressLocation.Notification;
  return Promise.resolve(vscode.window.withProgress({ location, title }, work));
}
