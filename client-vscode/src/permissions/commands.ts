import * as vscode from "vscode";

import type { Commands } from "../commands/registry";
import { plain } from "../format";
import { addRule, EFFECTS } from "./adding";
import { READ_ONLY_PROGRAMS } from "./read-only";
import { describe, type Effect, mayHoldAlways } from "./rule";
import type { PlacedRule, Reach, Rules } from "./rules";

const REACHES: Record<Reach, string> = { conversation: "in its conversation", workspace: "in this workspace", always: "always" };
const READ_ONLY = `Commands that only read: ${READ_ONLY_PROGRAMS.join(", ")}`;
const READ_ONLY_SETTING = "coppice.chat.readOnlyCommands";
const ICONS: Record<Effect, string> = { allow: "check", ask: "question", deny: "circle-slash" };

/** *Permissions…*: every rule, where it can be changed, removed and added. `conversationId`: of the chat that was used last. */
export function registerPermissionCommands(commands: Commands, rules: Rules, conversationId: () => string | undefined): void {
  commands.add("coppice.editPermissions", async () => {
    while (await edit(rules, conversationId()));
  });
}

/** Shows the list once; whether it is to be shown again. */
async function edit(rules: Rules, conversationId: string | undefined): Promise<boolean> {
  const add = { label: "$(add) Add a Rule…", placed: undefined };
  const listed = rules.all().map((placed) => ({
    label: `$(${ICONS[placed.rule.effect]}) ${plain(describe(placed.rule))}`,
    description: `${EFFECTS[placed.rule.effect]}, ${REACHES[placed.reach]}`,
    ...(placed.rule.place && { detail: plain(placed.rule.place.folder) }),
    placed,
  }));
  const options = { title: "Permissions", placeHolder: "Rules that refuse win over rules that ask, and those over rules that allow", matchOnDescription: true };
  const isAllowed = vscode.workspace.getConfiguration().get<boolean>(READ_ONLY_SETTING, true);
  const effect = isAllowed ? "allow" : "ask";
  const readOnly = { label: `$(${ICONS[effect]}) ${READ_ONLY}`, description: EFFECTS[effect], placed: undefined };
  const picked = await vscode.window.showQuickPick([...listed, readOnly, add], options);
  if (picked === undefined) return false;
  if (picked === readOnly) await changeReadOnly(!isAllowed);
  else if (picked.placed === undefined) await addRule(rules, conversationId);
  else await change(rules, picked.placed);
  return true;
}

async function changeReadOnly(isAllowed: boolean): Promise<void> {
  const picked = await vscode.window.showQuickPick([EFFECTS[isAllowed ? "allow" : "ask"]], { title: READ_ONLY });
  if (picked !== undefined) await vscode.workspace.getConfiguration().update(READ_ONLY_SETTING, isAllowed, vscode.ConfigurationTarget.Global);
}

async function change(rules: Rules, placed: PlacedRule): Promise<void> {
  const effects = (Object.keys(EFFECTS) as Effect[]).filter((effect) => effect !== placed.rule.effect && (placed.reach !== "always" || mayHoldAlways({ ...placed.rule, effect })));
  const items = [{ label: "Remove", effect: undefined }, ...effects.map((effect) => ({ label: EFFECTS[effect], effect }))];
  const picked = await vscode.window.showQuickPick(items, { title: plain(describe(placed.rule)) });
  if (picked === undefined) return;
  if (picked.effect === undefined) rules.remove(placed);
  else rules.add({ ...placed, rule: { ...placed.rule, effect: picked.effect } });
}
