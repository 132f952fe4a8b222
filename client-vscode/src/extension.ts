import * as vscode from "vscode";

import type { CoppiceApi } from "../api";
import { makeApi } from "./api";
import { registerBranchCommands } from "./branches/commands";
import { BranchesView } from "./branches/view";
import { registerChat } from "./chat/panel";
import { CoppiceClient } from "./client";
import { registerCompactionCommands } from "./commands/compacting";
import { registerConversationCommands } from "./commands/conversations";
import { registerExchangeCommands } from "./commands/exchange";
import { registerModelCommands } from "./commands/models";
import { Commands } from "./commands/registry";
import { registerServerCommands } from "./commands/server";
import { Conversations } from "./conversations";
import { sentence } from "./errors";
import { registerContextDocument } from "./documents/context";
import { FilesView, registerFileCommands } from "./files/view";
import { answerSamples } from "./models/editor";
import { Keys } from "./models/keys";
import { answerToolCalls } from "./models/tools";
import { languageClient } from "./server/connect";
import { Servers } from "./server/servers";
import { Status } from "./status";

export function activate(context: vscode.ExtensionContext): CoppiceApi {
  const log = vscode.window.createOutputChannel("Coppice", { log: true });
  const servers = new Servers(context, log);
  const keys = new Keys(context);
  const client = new CoppiceClient(async (events) => {
    const launch = { server: await servers.find(), variables: await keys.variables() };
    return languageClient(context, log, launch, events);
  });
  answerSamples(client);
  answerToolCalls(client);
  const conversations = new Conversations(client, context.workspaceState);
  const branches = new BranchesView(client, conversations);
  const files = new FilesView(client, conversations);
  context.subscriptions.push(log, client, conversations, branches, files, new Status(client, conversations));

  const chat = registerChat(context, client, conversations);
  const commands = new Commands(context, log, servers);
  registerConversationCommands(commands, client, conversations, chat);
  registerExchangeCommands(commands, client, conversations, chat, log);
  registerCompactionCommands(commands, context, client, conversations);
  registerBranchCommands(commands, client, conversations, chat, branches);
  registerModelCommands(commands, client, keys);
  registerFileCommands(commands, files);
  registerContextDocument(commands, context, client, conversations);
  registerServerCommands(commands, context, client, servers, log);
  followInContextKeys(context, client, conversations);

  // Where a conversation is under way its files are tracked from the start; else the server waits to be needed.
  if (conversations.active !== undefined) client.start().catch((error: unknown) => { log.warn(sentence(error)); });
  return makeApi(context, client, conversations);
}

/** What the menus and welcome texts of package.json ask for. */
function followInContextKeys(context: vscode.ExtensionContext, client: CoppiceClient, conversations: Conversations): void {
  const set = (key: string, value: unknown) => void vscode.commands.executeCommand("setContext", key, value);
  const follow = () => {
    set("coppice.hasConversation", conversations.active !== undefined);
    set("coppice.server", client.state);
  };
  follow();
  context.subscriptions.push(conversations.onDidChangeActive(follow), client.onDidChangeState(follow));
}
