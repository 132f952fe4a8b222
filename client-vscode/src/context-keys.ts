import * as vscode from "vscode";

import type { CoppiceClient } from "./client";
import type { Conversations } from "./conversations";

/** Keeps the context keys that the menus and welcome texts of package.json ask for. */
export function followInContextKeys(context: vscode.ExtensionContext, client: CoppiceClient, conversations: Conversations): void {
  const set = (key: string, value: unknown) => void vscode.commands.executeCommand("setContext", key, value);
  const follow = () => {
    set("coppice.hasConversation", conversations.active !== undefined);
    set("coppice.server", client.state);
  };
  follow();
  context.subscriptions.push(conversations.onDidChangeActive(follow), client.onDidChangeState(follow));
}
