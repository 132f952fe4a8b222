import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import type { Servers } from "../server/servers";
import type { ConversationAccess, Feature } from "./feature";
import type { Equip } from "./turns";
import { ChatView } from "./view";

/** What the rest of the extension may ask of the Chat view. */
export interface Chat {
  addFeature(make: (access: ConversationAccess) => Feature): void;
  /** Puts text into the input, for the user to edit and send. */
  setInput(text: string): void;
  /** Shows the view and moves the focus to its input. */
  focus(): void;
  /** Shows the view and scrolls to an entry of a conversation; one that is not on the current branch is shown on its own. */
  reveal(conversationId: string, entryId: string, isOnCurrentBranch?: boolean): void;
}

export function registerChat(
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  conversations: Conversations,
  approvals: Approvals,
  servers: Servers,
  equip: Equip,
): Chat {
  const bundles = vscode.Uri.joinPath(context.extensionUri, "dist");
  const view = new ChatView(bundles, client, conversations, context.workspaceState, approvals, servers, equip);
  context.subscriptions.push(view, vscode.window.registerWebviewViewProvider("coppice.chat", view));
  return view;
}
