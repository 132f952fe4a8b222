import * as vscode from "vscode";

import { registerChat } from "./chat/panel";
import { CoppiceClient } from "./client";
import { Conversations } from "./conversations";
import { sentence } from "./errors";
import { connect } from "./server/connect";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Coppice", { log: true });
  const client = new CoppiceClient(() => connect(context, log));
  const conversations = new Conversations(client, context.workspaceState);
  context.subscriptions.push(log, client, conversations);

  registerChat(context, client, conversations);
  for (const view of ["coppice.branches", "coppice.files"]) {
    context.subscriptions.push(vscode.window.registerTreeDataProvider(view, empty));
  }
  command(context, "coppice.newConversation", () => conversations.create());
  command(context, "coppice.restartServer", () => client.restart());
}

const empty: vscode.TreeDataProvider<never> = { getChildren: () => [], getTreeItem: (item) => item };

function command(context: vscode.ExtensionContext, id: string, run: () => Promise<unknown>): void {
  const guarded = async () => {
    try {
      await run();
    } catch (error) {
      void vscode.window.showErrorMessage(sentence(error));
    }
  };
  context.subscriptions.push(vscode.commands.registerCommand(id, guarded));
}
