import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { shortTokens } from "../format";
import { choiceOf, type ModelChoice, type NextChoice, wireChoice } from "../models/choice";
import type { ModelResult } from "../protocol.gen";
import type { EndpointChoice } from "./models";

/** What a person wants other than a model that can be chosen: another one of the endpoint, another endpoint, one more. */
export type Wanted = "another" | "elsewhere" | "add";

interface ChoiceItem extends vscode.QuickPickItem {
  choice?: ModelChoice;
  wanted?: Wanted;
}

/** Has the user choose the model of the active conversation, or of the one that the first message makes, and how much it thinks. */
export async function pickModel(client: CoppiceClient, conversations: Conversations, next: NextChoice): Promise<Wanted | undefined> {
  const workspaceUri = vscode.workspace.workspaceFolders?.[0]?.uri.toString() ?? null;
  const offered = await client.request("coppice/model", { workspaceUri });
  if (offered.provider === "none" && offered.models.length === 0) return "elsewhere";
  const conversationId = conversations.active;
  const current = conversationId === undefined ? next.current : choiceOf((await client.request("coppice/conversation/get", { conversationId })).conversation);
  const picked = await vscode.window.showQuickPick(itemsOf(offered, current), { title: "Model", placeHolder: "Which model answers in this conversation?" });
  if (picked?.choice === undefined) return picked?.wanted;
  if (conversationId !== undefined) await client.request("coppice/conversation/setModel", { conversationId, ...wireChoice(picked.choice) });
  await next.set(picked.choice);
  return undefined;
}

/** A model that was asked for, as `coppice.models` holds it. */
export function configuredModel({ endpoint: { provider, baseUrl }, name, contextWindow, variable }: EndpointChoice): Record<string, unknown> {
  return {
    provider,
    ...(baseUrl === "" ? {} : { baseUrl }),
    name,
    ...(contextWindow === null ? {} : { contextWindow }),
    ...(variable === undefined ? {} : { apiKeyEnv: variable }),
  };
}

function itemsOf({ models, ...usual }: ModelResult, current: ModelChoice): ChoiceItem[] {
  const configured = models.find(({ id }) => id === current.model);
  const described = (isInUse: boolean, ...parts: string[]): string => [...parts, ...(isInUse ? ["in use"] : [])].join(" · ");
  const { thinkingLevels } = configured ?? usual;
  const levels: ModelChoice["thinkingLevel"][] = thinkingLevels.length === 0 ? [] : [undefined, ...thinkingLevels];
  return [
    ...(usual.provider === "none" ? [] : [{
      label: usual.name ?? usual.provider,
      description: described(configured === undefined, `${shortTokens(usual.contextWindow)} tokens`),
      ...(usual.problem === undefined ? {} : { detail: usual.problem }),
      choice: { ...current, model: undefined },
    }]),
    ...models.map(({ id, name, contextWindow, problem }) => ({
      label: id,
      description: described(id === configured?.id, ...(name === undefined || name === id ? [] : [name]), `${shortTokens(contextWindow)} tokens`),
      ...(problem === undefined ? {} : { detail: problem }),
      choice: { ...current, model: id },
    })),
    ...(levels.length === 0 ? [] : [separator("Thinking")]),
    ...levels.map((level) => ({
      label: level === undefined ? "Think as Much as It Does by Itself" : `Thinking: ${level}`,
      description: described(level === current.thinkingLevel),
      choice: { model: configured?.id, thinkingLevel: level },
    })),
    separator("More"),
    { label: "Add Model…", wanted: "add" },
    ...(usual.provider === "none" ? [] : [{ label: "Another Model of This Endpoint", wanted: "another" as const }]),
    { label: "Another Endpoint…", wanted: "elsewhere" },
  ];
}

function separator(label: string): ChoiceItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
