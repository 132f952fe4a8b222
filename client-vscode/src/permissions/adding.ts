import { realpath } from "node:fs/promises";

import * as vscode from "vscode";

import { TOOLS } from "../agent/agent";
import { candidate, prefixOf, relativeWithin } from "../agent/paths";
import { plain } from "../format";
import { type Effect, FILES, type Rule } from "./rule";
import { type Reach, reachesOf, type Rules } from "./rules";
import { plainWords } from "./words";

/** What a rule is about, and what it can say of that. */
interface Subject {
  rule: Omit<Rule, "effect">;
  title: string;
  effects: readonly Effect[];
}

export const EFFECTS: Record<Effect, string> = { allow: "Allow", ask: "Ask each time", deny: "Deny" };
const ALL: readonly Effect[] = ["deny", "ask", "allow"];
const REACHES: Record<Reach, string> = { conversation: "In This Conversation", workspace: "In This Workspace", always: "Always" };

/** Has a person write a rule, and adds it. `conversationId`: of the chat that was used last. */
export async function addRule(rules: Rules, conversationId: string | undefined): Promise<void> {
  const kinds = [
    { label: "Commands", detail: "By their first words", ask: askCommand },
    { label: "A Tool", detail: "Every use of it", ask: askTool },
    { label: "A File or Folder", detail: "Whichever tool names it. Allow is for edits", ask: askFile },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title: "What is the rule about?" });
  const subject = await kind?.ask();
  if (subject === undefined) return;
  const { title } = subject;
  const effect = (await vscode.window.showQuickPick(subject.effects.map((each) => ({ label: EFFECTS[each], effect: each })), { title }))?.effect;
  if (effect === undefined) return;
  const rule: Rule = { ...subject.rule, effect };
  // Without its folder the path of one among several folders would be that of all.
  const isOneFolder = rule.place?.path === "" && rule.path !== "";
  const reaches = reachesOf(rule).filter((each) => (each === "conversation" ? conversationId !== undefined : each === "workspace" || !isOneFolder));
  const reach = (await vscode.window.showQuickPick(reaches.map((each) => ({ label: REACHES[each], reach: each })), { title: "Where does the rule hold?" }))?.reach;
  if (reach === undefined) return;
  const { place, ...anywhere } = rule;
  if (reach === "always") rules.add({ rule: place === undefined ? rule : { ...anywhere, path: place.path }, reach });
  else rules.add({ rule, reach, ...(reach === "conversation" && conversationId !== undefined && { conversationId }) });
}

async function askCommand(): Promise<Subject | undefined> {
  const validateInput = (given: string) => (plainWords(given) === undefined ? "Write the first words of a single command, without operators, variables or patterns." : undefined);
  const command = await vscode.window.showInputBox({ title: "Rule for Commands", prompt: "The first words of the command, for instance git push", validateInput });
  const words = command === undefined ? undefined : plainWords(command);
  return words && { rule: { tool: "run_command", words }, title: plain(`Commands that begin with ${words.join(" ")}`), effects: ALL };
}

async function askTool(): Promise<Subject | undefined> {
  // A rule about edit_file is one about write_file, too, and reading is allowed without one.
  const own = TOOLS.filter(({ definition }) => definition.name !== "write_file").map(({ definition: { name }, changes }) => ({ label: name, name, description: name === "edit_file" ? "and write_file" : "", effects: changes ? ALL : ALL.slice(0, 2) }));
  const others = vscode.lm.tools.map(({ name }) => ({ label: plain(name), description: "of an extension", name, effects: ALL }));
  const tool = await vscode.window.showQuickPick([...own, ...others], { title: "Rule for a Tool" });
  return tool && { rule: { tool: tool.name }, title: `Every use of ${tool.label}`, effects: tool.effects };
}

async function askFile(): Promise<Subject | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const validateInput = async (given: string) => ((await writtenPlace(folders, given)) === undefined ? "Write the path of a file or folder of the workspace, which need not exist." : undefined);
  const path = await vscode.window.showInputBox({ title: "Rule for a File or Folder", prompt: "From the workspace folder, for instance config/production", validateInput });
  const placed = path === undefined ? undefined : await writtenPlace(folders, path);
  return placed && { rule: { tool: FILES, ...placed }, title: plain(`The path ${placed.path === "" ? "." : placed.path}`), effects: ALL };
}

/** The place of a path as it is written: its links are followed each time the rule is looked at. */
async function writtenPlace(folders: readonly string[], path: string): Promise<Required<Pick<Rule, "path" | "place">> | undefined> {
  if (path.trim() === "" || path.includes("\0")) return undefined;
  for (const each of folders) {
    const folder = await realpath(each);
    const relative = [each, folder].map((base) => relativeWithin(base, candidate(folders, path))).find((within) => within !== undefined);
    if (relative !== undefined) return { path: `${prefixOf(folders, each)}${relative}`, place: { folder, path: relative } };
  }
  return undefined;
}
