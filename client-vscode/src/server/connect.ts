import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";

import { findServer } from "./find";

/** A language client, not started yet, for the server that is found. Throws `NoServerError`. */
export async function connect(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<LanguageClient> {
  const setting = vscode.workspace.getConfiguration("coppice").get<string>("server.path", "");
  const found = await findServer({ setting, path: process.env["PATH"] });
  log.info(`The server is ${found.command} (${found.from}).`);
  return new LanguageClient(
    "coppice",
    "Coppice",
    // The folder is the extension's own, so that nothing in a checkout is picked up by the program.
    { command: found.command, args: ["serve"], options: { cwd: context.extensionPath } },
    {
      documentSelector: [{ scheme: "file" }],
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    },
  );
}
