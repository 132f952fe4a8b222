import * as vscode from "vscode";

import type { CoppiceClient } from "./client";
import type { Conversations } from "./conversations";

/** Sets a context key, and ticks the steps of the walkthrough that are done. */
export function setContextKey(key: string, value: unknown): void {
  set(key, value);
  tickWalkthrough();
}

/**
 * VS Code ticks no step whose condition held when it first read the walkthrough, which it does when that is opened. So
 * each condition has a key that is true for a moment: when something of it has changed, and when a page is opened.
 */
function tickWalkthrough(): void {
  for (const isTicking of [true, false]) set("coppice.isTicking", isTicking);
}

function set(key: string, value: unknown): void {
  void vscode.commands.executeCommand("setContext", key, value);
}

/** Keeps the context keys that the menus and welcome texts of package.json ask for. */
export function followInContextKeys(context: vscode.ExtensionContext, client: CoppiceClient, conversations: Conversations): void {
  const follow = () => {
    set("coppice.hasConversation", conversations.active !== undefined);
    setContextKey("coppice.server", client.state);
  };
  // The extension sees no kind of tab in a page of VS Code's own.
  const tick = ({ opened, changed }: vscode.TabChangeEvent) => {
    if ([...opened, ...changed].some(({ input }) => input === undefined)) tickWalkthrough();
  };
  follow();
  context.subscriptions.push(vscode.window.tabGroups.onDidChangeTabs(tick), conversations.onDidChangeActive(follow), client.onDidChangeState(follow));
}
