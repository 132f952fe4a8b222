import * as vscode from "vscode";

import type { CoppiceApi } from "../api";
import { createAgent } from "./agent/editor/create";
import { makeApi } from "./api";
import { windowApprovals } from "./approvals/window";
import { registerBranchCommands } from "./branches/commands";
import { registerBranchFileCommands } from "./branches/file-commands";
import { BranchesView } from "./branches/view";
import { addFeatures } from "./chat/features";
import { registerChat } from "./chat/panel";
import { CoppiceClient } from "./client";
import { registerCompactionCommands } from "./commands/compacting";
import { registerConversationCommands } from "./commands/conversations";
import { registerExchangeCommands } from "./commands/exchange";
import { registerModelCommands } from "./commands/models";
import { registerNoteCommands } from "./commands/notes";
import { Commands } from "./commands/registry";
import { registerServerCommands } from "./commands/server";
import { registerContextCommands } from "./context/commands";
import { followInContextKeys } from "./context-keys";
import { registerConversationListCommands } from "./conversation-list/commands";
import { Sources } from "./conversation-list/sources";
import { ConversationsView } from "./conversation-list/view";
import { Conversations } from "./conversations";
import { sentence } from "./errors";
import { registerContextDocument } from "./documents/context";
import { FilesView, registerFileCommands } from "./files/view";
import { registerHistoryServers } from "./mcp/provider";
import { NextChoice } from "./models/choice";
import { answerSamples } from "./models/editor";
import { Keys } from "./models/keys";
import { ContextWindows } from "./models/windows";
import { answerToolCalls } from "./models/tools";
import { LedgerView, registerLedgerCommands } from "./ledger/view";
import { createLog } from "./log";
import { registerPermissionCommands } from "./permissions/commands";
import { windowModes } from "./modes/window";
import { windowRules } from "./permissions/window";
import { languageClient } from "./server/connect";
import { Servers } from "./server/servers";
import { Status } from "./status";

export function activate(context: vscode.ExtensionContext): CoppiceApi {
  const log = createLog();
  const servers = new Servers(context, log);
  const keys = new Keys(context);
  const client = new CoppiceClient(async (events) => {
    const launch = { server: await servers.find(), variables: await keys.variables() };
    return languageClient(context, log, launch, events);
  });
  answerSamples(client);
  const rules = windowRules(context);
  const approvals = windowApprovals(context, rules);
  const modes = windowModes(context);
  const windows = new ContextWindows(client);
  const { agent, host, equip } = createAgent(context, approvals, modes, (conversationId) => windows.of(conversationId), (message) => { log.warn(message); });
  answerToolCalls(client, agent, approvals, modes, host);
  const choice = new NextChoice(context.workspaceState);
  const conversations = new Conversations(client, context.workspaceState, choice);
  const files = new FilesView(client, conversations);
  context.subscriptions.push(log, servers, client, conversations, files, new LedgerView(client, conversations), new Status(client, conversations, approvals));

  const commands = new Commands(context, log);
  const chat = registerChat(commands, context, client, conversations, approvals, servers, async (conversationId, text, given) => {
    const attachments = given ?? attached.take(conversationId);
    const restore = () => { attached.restore(conversationId, attachments); };
    await branchFiles.settled(conversationId);
    const [content, workspaceState, equipment] = await Promise.all([attached.content(text, attachments), host.recordState(conversationId), equip(conversationId)]);
    await notes.beforeTurn(conversationId, workspaceState);
    return { content, workspaceState, restore, ...equipment };
  });
  const list = new ConversationsView(client, conversations, new Sources(client, log), chat.activities);
  context.subscriptions.push(list);
  const { attached, branchFiles, notes, differences } = addFeatures(context, chat, { client, conversations, approvals, host, modes, choice });
  const branches = new BranchesView(client, conversations, differences);
  context.subscriptions.push(branches);
  registerConversationCommands(commands, client, conversations, chat);
  registerContextCommands(commands, attached, chat);
  registerExchangeCommands(commands, client, conversations, chat, log);
  registerCompactionCommands(commands, context, client, conversations);
  registerBranchCommands(commands, client, conversations, chat, branches, branchFiles);
  registerBranchFileCommands(commands, conversations, differences, branchFiles);
  registerModelCommands(commands, client, keys, conversations, choice);
  registerNoteCommands(commands, client);
  registerPermissionCommands(commands, rules, () => conversations.active);
  registerFileCommands(commands, files);
  registerConversationListCommands(commands, conversations, chat, list);
  registerLedgerCommands(commands, conversations, chat);
  registerContextDocument(commands, context, client, conversations, equip);
  registerServerCommands(commands, context, client, servers, log);
  registerHistoryServers(context, () => servers.find());
  followInContextKeys(context, client, conversations);

  // Where a conversation is under way its files are tracked from the start; else the server waits to be needed.
  if (conversations.active !== undefined) client.start().catch((error: unknown) => { log.warn(sentence(error)); });
  return makeApi(context, client, conversations);
}
