import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
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
  commands.add("coppice.chooseServer", () => servers.choose());
  commands.add("coppice.showLog", async () => { await Promise.resolve(); log.show(); });
  commands.add("coppice.installServer", async () => {
    await servers.install();
    await client.restart();
    void vscode.window.showInformationMessage("The Coppice server is installed.");
  });
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("coppice.server.path")) void client.restart().catch(() => undefined);
    }),
  );
}
