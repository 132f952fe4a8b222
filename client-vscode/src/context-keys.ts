import * as vscode from "vscode";

import type { CoppiceClient } from "./client";
import type { Conversations } from "./conversations";

/** Sets a context key, and ticks the steps of the walkthrough that are done. */
export function setContextKey(key: string, value: unknown): void {
  set(key, value);
  tickWalkthrough();
}

/**
 * VS Code ticks a step when its condition begins to hold, but never in a window where the condition held already when
 * the walkthrough was read, which is when it is opened. So each step has its condition once for each of two values of a
 * key: of these one at most held then, and the other ticks it, when something of the condition has changed and when a
 * page is opened.
 */
function tickWalkthrough(): void {
  for (const tick of [1, 2]) set("coppice.tick", tick);
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
