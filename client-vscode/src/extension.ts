import * as vscode from "vscode";

import { registerChat } from "./chat/panel";
import { CoppiceClient } from "./client";
import { registerServerCommands } from "./commands/server";
import { Commands } from "./commands/registry";
import { Conversations } from "./conversations";
import { languageClient } from "./server/connect";
import { Servers } from "./server/servers";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Coppice", { log: true });
  const servers = new Servers(context, log);
  const client = new CoppiceClient(async (onGivenUp) => {
    const launch = { server: await servers.find(), variables: {} };
    return languageClient(context, log, launch, onGivenUp);
  });
  const conversations = new Conversations(client, context.workspaceState);
  const commands = new Commands(context, log, servers);
  context.subscriptions.push(log, client, conversations);

  registerChat(context, client, conversations);
  for (const view of ["coppice.branches", "coppice.files"]) {
    context.subscriptions.push(vscode.window.registerTreeDataProvider(view, empty));
  }
  commands.add("coppice.newConversation", () => conversations.create());
  registerServerCommands(commands, context, client, servers, log);
}

const empty: vscode.TreeDataProvider<never> = { getChildren: () => [], getTreeItem: (item) => item };
