import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import type { Servers } from "../server/servers";
import type { Commands } from "./registry";

export function registerServerCommands(
  commands: Commands,
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  servers: Servers,
  log: vscode.LogOutputChannel,
): void {
  commands.add("coppice.restartServer", () => client.restart());
  commands.add("coppice.cancelInstallation", async () => { await Promise.resolve(); servers.cancelInstallation(); });
  commands.add("coppice.chooseServer", () => servers.choose());
  commands.add("coppice.showLog", async () => { await Promise.resolve(); log.show(); });
  // The chat shows how far the installation is, and what went wrong.
  commands.add("coppice.installServer", async () => {
    await vscode.commands.executeCommand("coppice.chat.focus");
    const isInstalled = await servers.install().then(() => true, (error: unknown) => { log.warn(sentence(error)); return false; });
    if (isInstalled) await client.restart();
  });
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("coppice.server.path")) void client.restart().catch(() => undefined);
    }),
  );
}
