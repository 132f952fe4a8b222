import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import type { Servers } from "../server/servers";
import type { Activities } from "./activity";
import { Chats } from "./chats";
import type { ChatAccess, Feature } from "./feature";
import { viewSurface } from "./surface";
import { ChatTabs } from "./tabs";
import type { Equip } from "./turns";

/** What the rest of the extension may ask of the chats; but for `addFeature` it is the one that the user worked with last. */
export interface Chat {
  addFeature(make: (access: ChatAccess) => Feature): void;
  /** Puts text into the input, for the user to edit and send. */
  setInput(text: string): void;
  /** Shows the chat and moves the focus to its input. */
  focus(): void;
  /** Shows a conversation where it is shown already, or else in the chat, and moves the focus to its input. */
  show(conversationId: string): void;
  /** Shows the conversation that has waited longest for approval. */
  showWaiting(): void;
  /** Answers the first question of the chat that the user can see. */
  answerApproval(decision: "allow" | "deny"): void;
  /** Whether the conversation is in sight. */
  isSeen(conversationId: string): boolean;
  readonly activities: Activities;
  /** Shows the chat and scrolls to an entry of a conversation; one that is not on the current branch is shown on its own. */
  reveal(conversationId: string, entryId: string, isOnCurrentBranch?: boolean): void;
}

export function registerChat(
  commands: Commands,
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  conversations: Conversations,
  approvals: Approvals,
  servers: Servers,
  equip: Equip,
): Chat {
  const bundles = vscode.Uri.joinPath(context.extensionUri, "dist");
  const chats = new Chats(bundles, client, conversations, context.workspaceState, approvals, servers, equip);
  const tabs = new ChatTabs(chats);
  const sidebar: vscode.WebviewViewProvider = { resolveWebviewView: (view) => { chats.attachSidebar(viewSurface(view)); } };
  context.subscriptions.push(chats, tabs.register(), vscode.window.registerWebviewViewProvider("coppice.chat", sidebar));
  commands.add("coppice.openInEditor", async () => {
    await Promise.resolve();
    tabs.open(conversations.active);
  });
  const add = (command: `coppice.${string}`, run: () => void): void => {
    commands.add(command, async () => {
      await Promise.resolve();
      run();
    });
  };
  add("coppice.showApproval", () => { chats.showWaiting(); });
  add("coppice.allow", () => { chats.answerApproval("allow"); });
  add("coppice.deny", () => { chats.answerApproval("deny"); });
  return chats;
}
