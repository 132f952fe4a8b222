import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";

/** What the rest of the extension may ask of the Chat view. */
export interface Chat {
  /** Puts text into the input, for the user to edit and send. */
  setInput(text: string): void;
  /** Shows the view and moves the focus to its input. */
  focus(): void;
}

export function registerChat(
  context: vscode.ExtensionContext,
  _client: CoppiceClient,
  _conversations: Conversations,
): Chat {
  const provider: vscode.WebviewViewProvider = {
    resolveWebviewView(view) {
      view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(context.extensionUri, "dist")] };
      view.webview.html = page(view.webview, context.extensionUri);
    },
  };
  context.subscriptions.push(vscode.window.registerWebviewViewProvider("coppice.chat", provider));
  return {
    setInput: () => undefined,
    focus: () => void vscode.commands.executeCommand("coppice.chat.focus"),
  };
}

function page(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${file("webview.css")}">
<title>Coppice</title>
</head>
<body><script nonce="${nonce}" src="${file("webview.js")}"></script></body>
</html>`;
}
