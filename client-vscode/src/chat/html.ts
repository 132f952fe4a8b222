import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import { policy } from "./policy";

/** The page's frame. What it shows is made by the bundle. */
export function html(webview: vscode.Webview, bundles: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(bundles, name)).toString();
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy(webview.cspSource, nonce)}">
<link rel="stylesheet" href="${file("webview.css")}">
<title>Coppice Chat</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${file("webview.js")}"></script>
</body>
</html>`;
}
