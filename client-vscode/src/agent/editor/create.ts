import { join } from "node:path";

import * as vscode from "vscode";

import type { ApprovalPolicy, Approver } from "../../approvals/approval";
import { offeredTools } from "../../models/tools";
import type { Modes } from "../../modes/modes";
import type { RuleSource } from "../../permissions/rule";
import type { Tool } from "../../protocol.gen";
import { type Access, Agent } from "../agent";
import { EditorHost } from "./host";
import { currentSystemPrompt } from "./instructions";

/** The built-in tools on the editor, and what a turn is given of them. */
export function createAgent(
  context: vscode.ExtensionContext,
  approver: Approver & RuleSource,
  modes: Modes,
  windowOf: (conversationId: string) => number | undefined,
  warn: (message: string) => void,
): { agent: Agent; host: EditorHost; equip: (conversationId: string) => Promise<{ tools: Tool[]; system: string }> } {
  const host = new EditorHost(context.workspaceState, join((context.storageUri ?? context.globalStorageUri).fsPath, "snapshots"), windowOf, warn);
  context.subscriptions.push(host);
  const settings = () => {
    const section = vscode.workspace.getConfiguration("coppice");
    return {
      access: section.get<Access>("chat.builtInTools", "all"),
      policy: section.get<ApprovalPolicy>("chat.confirmTools", "firstUse"),
      readOnlyCommands: section.get("chat.readOnlyCommands", true),
    };
  };
  const agent = new Agent(host, settings, approver, modes);
  const equip = async (conversationId: string) => {
    const mode = modes.of(conversationId);
    const tools = offeredTools(agent, approver, conversationId, mode);
    return { tools, system: await currentSystemPrompt(host.folders, tools.map(({ name }) => name), mode) };
  };
  return { agent, host, equip };
}
