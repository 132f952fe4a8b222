import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { sentence } from "../errors";
import type { NextChoice } from "../models/choice";
import { type Endpoint, KeyRefusedError } from "../models/endpoint";
import { isOf, type NamedKey, variableAfter } from "../models/endpoints";
import { type Keys, OWN_VARIABLE } from "../models/keys";
import { enabledTools } from "../models/tools";
import { notify } from "../notify";
import { PROVIDERS } from "../protocol.gen";
import { setEditorModel, setPersonal } from "../settings/personal";
import { chooseModel, chooseWindow, isUsable } from "./choose-model";
import { configuredModel, pickModel } from "./pick-model";
import type { Commands } from "./registry";

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

type Provider = "editor" | Endpoint["provider"] | "none";

/** Which model answers, its key, and the tools it may use. All of it is the user's own, and never the workspace's. */
export function registerModelCommands(commands: Commands, client: CoppiceClient, keys: Keys, conversations: Conversations, next: NextChoice): void {
  commands.add("coppice.setUpModel", () => setUpModel(client, keys));
  commands.add("coppice.addModel", () => addModel(client, keys));
  commands.add("coppice.pickModel", async () => {
    const wanted = await pickModel(client, conversations, next);
    if (wanted === "another") await pickOfEndpoint(client, keys);
    else if (wanted === "elsewhere") await setUpModel(client, keys);
    else if (wanted === "add") await addModel(client, keys);
  });
  commands.add("coppice.setApiKey", async () => {
    const name = await pickVariable("Set API Key", variables());
    if (name !== undefined) await askForKey(client, keys, name);
  });
  commands.add("coppice.removeApiKey", async () => {
    const name = await pickVariable("Remove API Key", keys.names);
    if (name === undefined) return;
    await client.restart(async () => {
      await keys.remove(name);
      // A variable that is named must hold a key; a server on this machine may need none.
      if (name === OWN_VARIABLE && variableOf("model") === name) await setPersonal({ "model.apiKeyEnv": undefined });
    });
  });
  commands.add("coppice.chooseTools", chooseTools);
}

async function setUpModel(client: CoppiceClient, keys: Keys): Promise<void> {
  const offered = await vscode.lm.selectChatModels();
  const items: Record<Provider, vscode.QuickPickItem> = {
    editor: { label: "A model of VS Code", detail: offered.length === 0 ? "None is offered at the moment." : offered.map(({ name }) => name).join(", ") },
    openai: { label: "An OpenAI-compatible endpoint", detail: "OpenAI, or any server that speaks its protocol, on this machine too." },
    "openai-responses": { label: "OpenAI", detail: "With a key of your own, by its Responses API: models that reason keep their reasoning between steps." },
    gemini: { label: "Gemini", detail: "With a key of your own." },
    anthropic: { label: "Anthropic", detail: "With a key of your own." },
    none: { label: "No model", detail: "Conversations are kept and compacted, and nobody answers." },
  };
  const choices = (Object.keys(items) as Provider[]).map((provider) => ({ ...items[provider], provider }));
  const picked = await vscode.window.showQuickPick(choices, { title: "Set Up Model", placeHolder: "Who answers in the chat?" });
  if (picked === undefined) return undefined;
  switch (picked.provider) {
    case "editor":
      return useEditor(offered);
    case "none":
      return setPersonal({ "model.provider": "none" });
    default:
      return useEndpoint(client, keys, picked.provider);
  }
}

/** Another model of the endpoint, or of VS Code, for every conversation without a choice of its own. */
async function pickOfEndpoint(client: CoppiceClient, keys: Keys): Promise<void> {
  const settings = vscode.workspace.getConfiguration("coppice");
  const provider = settings.get<Provider>("model.provider", "none");
  if (provider === "none") return setUpModel(client, keys);
  if (provider === "editor") return useEditor(await vscode.lm.selectChatModels());
  const address = { provider, baseUrl: settings.get<string | null>("model.baseUrl") ?? "" };
  const variable = variableOf("model");
  const endpoint = { ...address, key: variable !== undefined && isOf(variable, address, namedKeys()) ? await keys.get(variable) : undefined };
  const chosen = await choose(endpoint);
  if (chosen === undefined) return undefined;
  return setPersonal({ "model.name": chosen.name, "model.contextWindow": chosen.contextWindow ?? undefined });
}

async function useEditor(offered: vscode.LanguageModelChat[]): Promise<void> {
  if (offered.length === 0) throw new Error("VS Code offers no language model at the moment. Install an extension that brings some.");
  const items = offered.map((model) => ({ label: model.name, description: `${model.vendor} ${model.family}`, model }));
  const picked = await vscode.window.showQuickPick(items, { title: "A Model of VS Code" });
  if (picked === undefined) return;
  await setEditorModel(picked.model);
}

/** A model that can be chosen for a conversation, besides the one that answers in all others. */
async function addModel(client: CoppiceClient, keys: Keys): Promise<void> {
  const names: Record<Endpoint["provider"], string> = { openai: "An OpenAI-compatible endpoint", "openai-responses": "OpenAI", gemini: "Gemini", anthropic: "Anthropic" };
  const choices = (Object.keys(names) as Endpoint["provider"][]).map((provider) => ({ label: names[provider], provider }));
  const picked = await vscode.window.showQuickPick(choices, { title: "Add Model", placeHolder: "Whose model?" });
  if (picked === undefined) return;
  await askEndpoint(keys, picked.provider, "", async (chosen) => {
    const models = vscode.workspace.getConfiguration("coppice").inspect<Record<string, unknown>>("models")?.globalValue ?? {};
    const validateInput = (given: string) => nameProblem(given.trim(), models);
    const prompt = "How the chat lists the model.";
    const name = await vscode.window.showInputBox({ title: "Name", prompt, value: chosen.name.split("/").at(-1) ?? "", validateInput, ignoreFocusOut: true });
    if (name === undefined) return;
    await client.restart(async () => {
      await setPersonal({ models: { ...models, [name.trim()]: configuredModel(chosen) } });
      if (chosen.key !== "" && chosen.variable !== undefined) await keys.set(chosen.variable, chosen.key);
    });
  });
}

function nameProblem(name: string, models: Record<string, unknown>): string | undefined {
  if (name === "" || name.length > 100) return "A name of 1 to 100 characters.";
  return Object.hasOwn(models, name) ? "There is a model of this name." : undefined;
}

async function useEndpoint(client: CoppiceClient, keys: Keys, provider: Endpoint["provider"]): Promise<void> {
  const baseUrl = vscode.workspace.getConfiguration("coppice").get<string | null>("model.baseUrl") ?? "";
  await askEndpoint(keys, provider, baseUrl, (chosen) => useChosen(client, keys, chosen));
}

/** Asks for the endpoint, its key and a model, until the model answers or the user leaves. `value` is the address that is in use. */
async function askEndpoint(
  keys: Keys,
  provider: Endpoint["provider"],
  value: string,
  use: (chosen: EndpointChoice) => Promise<void>,
): Promise<void> {
  const isOpen = provider === "openai";
  const prompt = "The endpoint, ending in /v1. Empty: OpenAI's own.";
  const baseUrl = isOpen ? await vscode.window.showInputBox({ title: "Endpoint", prompt, value, validateInput: notAnAddress }) : "";
  if (baseUrl === undefined) return;
  const after = { provider, baseUrl: baseUrl.trim() };
  let problem = "";
  for (;;) {
    const key = await askForEndpointKey(problem);
    if (key === undefined) return;
    const variable = variableAfter({ after, named: namedKeys(), stored: keys.names, isEntered: key !== "" });
    const endpoint = { ...after, key: key || (variable === undefined ? undefined : await keys.get(variable)) };
    try {
      const chosen = await choose(endpoint);
      if (chosen !== undefined) await use({ endpoint, ...chosen, key, variable });
      return;
    } catch (error) {
      if (!(error instanceof KeyRefusedError)) throw error;
      problem = sentence(error);
    }
  }
}

async function askForEndpointKey(problem: string): Promise<string | undefined> {
  const prompt = `${problem} Kept in VS Code's secret storage for this endpoint alone. Empty: the key that was set for it, if any.`.trim();
  return (await vscode.window.showInputBox({ title: "API Key", prompt, password: true, ignoreFocusOut: true }))?.trim();
}

interface ChosenModel {
  name: string;
  /** In tokens; null is the default. */
  contextWindow: number | null;
}

/** A model of the endpoint that answers; undefined where the user leaves. Throws `KeyRefusedError`. */
async function choose(endpoint: Endpoint): Promise<ChosenModel | undefined> {
  const model = await chooseModel(endpoint, vscode.workspace.getConfiguration("coppice").get<string | null>("model.name") ?? "");
  const contextWindow = model === undefined ? undefined : await chooseWindow(model);
  if (model === undefined || contextWindow === undefined || !(await isUsable(endpoint, model.id))) return undefined;
  return { name: model.id, contextWindow };
}

export interface EndpointChoice extends ChosenModel {
  endpoint: Endpoint;
  /** As it was entered; empty where it was not. */
  key: string;
  variable: string | undefined;
}

async function useChosen(client: CoppiceClient, keys: Keys, { endpoint: { provider, baseUrl }, name, contextWindow, key, variable }: EndpointChoice): Promise<void> {
  await client.restart(async () => {
    // The variable goes first: at no moment is it set with an endpoint that it was not set for.
    if (variable !== variableOf("model")) await setPersonal({ "model.apiKeyEnv": undefined });
    await setPersonal({ "model.provider": provider, "model.baseUrl": baseUrl || undefined, "model.name": name, "model.contextWindow": contextWindow ?? undefined });
    if (key !== "" && variable !== undefined) await keys.set(variable, key);
    if (variable !== undefined) await setPersonal({ "model.apiKeyEnv": variable });
  });
}

function notAnAddress(given: string): string | undefined {
  return given.trim() === "" || /^https?:\/\/\S+$/.test(given.trim()) ? undefined : "An address begins with https:// or http://.";
}

/** Empty leaves things as they are: a server on this machine may need no key. */
async function askForKey(client: CoppiceClient, keys: Keys, name: string): Promise<void> {
  if (!VARIABLE.test(name)) throw new Error(`The setting apiKeyEnv does not name an environment variable: ${name}.`);
  const prompt = `Kept in VS Code's secret storage, and given to the server as ${name}. Empty: no change.`;
  const key = await vscode.window.showInputBox({ title: "API Key", prompt, password: true, ignoreFocusOut: true });
  if (key === undefined || key.trim() === "") return;
  await client.restart(async () => {
    await keys.set(name, key.trim());
    if (name === OWN_VARIABLE) await setPersonal({ "model.apiKeyEnv": OWN_VARIABLE });
  });
}

/** The model's variable, and those of the summarizer and of configured models where they have one of their own. */
function variables(): string[] {
  const models = vscode.workspace.getConfiguration("coppice").inspect<Record<string, { apiKeyEnv?: string }>>("models")?.globalValue ?? {};
  const configured = Object.values(models).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set([variableOf("model") ?? OWN_VARIABLE, variableOf("summarizer") ?? [], configured].flat())];
}

function variableOf(who: "model" | "summarizer"): string | undefined {
  return vscode.workspace.getConfiguration("coppice").get<string | null>(`${who}.apiKeyEnv`) ?? undefined;
}

/** The variables that the user's settings name, each for its endpoint. */
function namedKeys(): NamedKey[] {
  const settings = vscode.workspace.getConfiguration("coppice");
  const ofSection = (who: "model" | "summarizer") => ({ provider: settings.get<string | null>(`${who}.provider`), baseUrl: settings.get<string | null>(`${who}.baseUrl`), apiKeyEnv: variableOf(who) });
  const models = settings.inspect<Record<string, { provider?: string; baseUrl?: string; apiKeyEnv?: string }>>("models")?.globalValue ?? {};
  return [ofSection("model"), ofSection("summarizer"), ...Object.values(models)].flatMap(({ provider, baseUrl, apiKeyEnv }) =>
    typeof apiKeyEnv === "string" && Object.hasOwn(PROVIDERS, provider ?? "") ? [{ endpoint: { provider: provider ?? "", baseUrl: baseUrl ?? "" }, variable: apiKeyEnv }] : []);
}

async function pickVariable(title: string, names: string[]): Promise<string | undefined> {
  if (names.length === 0) void notify.info("No key is kept.");
  return names.length < 2 ? names[0] : vscode.window.showQuickPick(names, { title, placeHolder: "Which one?" });
}

async function chooseTools(): Promise<void> {
  const enabled = enabledTools();
  const items = vscode.lm.tools.map(({ name, description }) => ({ label: name, detail: description, picked: enabled.has(name) }));
  if (items.length === 0) throw new Error("No extension offers tools at the moment.");
  const picked = await vscode.window.showQuickPick(items, { title: "Tools a Model May Use", canPickMany: true, matchOnDetail: true });
  if (picked === undefined) return;
  const there = new Set(items.map(({ label }) => label));
  const absent = [...enabled].filter((name) => !there.has(name));
  await setPersonal({ "chat.tools": [...picked.map(({ label }) => label), ...absent] });
}
