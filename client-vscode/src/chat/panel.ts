import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { ChatView } from "./view";

/** What the rest of the extension may ask of the Chat view. */
export interface Chat {
  /** Puts text into the input, for the user to edit and send. */
  setInput(text: string): void;
  /** Shows the view and moves the focus to its input. */
  focus(): void;
}

export function registerChat(
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  conversations: Conversations,
): Chat {
  const view = new ChatView(vscode.Uri.joinPath(context.extensionUri, "dist"), client, conversations, context.workspaceState);
  context.subscriptions.push(view, vscode.window.registerWebviewViewProvider("coppice.chat", view));
  return view;
}
