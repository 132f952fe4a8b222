import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import { CoppiceError } from "../errors";
import { contextText, type Given } from "./context-text";

const SCHEME = "coppice-context";

/** The read-only document that shows what a model sees; it follows the conversation. */
export function registerContextDocument(
  commands: Commands,
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  conversations: Conversations,
  given: (conversationId: string) => Promise<Given>,
): void {
  const changes = new vscode.EventEmitter<vscode.Uri>();
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changes.event,
    provideTextDocumentContent: async ({ query: conversationId }, token) => {
      try {
        const [seen, also] = await Promise.all([client.request("coppice/context", { conversationId, format: "openai" }, token), given(conversationId)]);
        return contextText(seen, also);
      } catch (error) {
        if (error instanceof CoppiceError && error.code === "unknown-conversation") return "This conversation is deleted.";
        throw error;
      }
    },
  };
  context.subscriptions.push(
    changes,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    client.onNotification("coppice/conversationChanged", ({ conversationId }) => {
      const uri = address(conversationId);
      const isOpen = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
      if (isOpen) changes.fire(uri);
    }),
  );
  commands.add("coppice.showContext", async () => {
    const document = await vscode.workspace.openTextDocument(address(conversations.current));
    await vscode.window.showTextDocument(document, { preview: true });
  });
}

function address(conversationId: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: "/What the Model Sees", query: conversationId });
}
