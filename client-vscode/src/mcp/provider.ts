import * as vscode from "vscode";

import { NoServerError } from "../errors";
import type { ServerCommand } from "../server/find";
import { namedServers } from "./definitions";

/** The contribution `mcpServerDefinitionProviders` of package.json has it too. */
const PROVIDER = "coppice.history";

/**
 * Offers the history of each workspace folder to the agents of VS Code, Copilot Chat for one. Where Coppice's own server
 * is not installed, there are none.
 */
export function registerHistoryServers(context: vscode.ExtensionContext, find: () => Promise<ServerCommand>): void {
  const changed = new vscode.EventEmitter<void>();
  const version = String((context.extension.packageJSON as { version: unknown }).version);
  const provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: async () => {
      const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, uri, local: uri.scheme === "file" }));
      const servers = namedServers(folders);
      if (servers.length === 0) return [];
      try {
        const { command } = await find();
        return servers.map(({ label, folder }) => {
          const definition = new vscode.McpStdioServerDefinition(label, command, ["mcp", "--workspace", folder.uri.fsPath], {}, version);
          definition.cwd = context.extensionUri;
          return definition;
        });
      } catch (error) {
        if (error instanceof NoServerError) return [];
        throw error;
      }
    },
  };
  context.subscriptions.push(
    changed,
    vscode.lm.registerMcpServerDefinitionProvider(PROVIDER, provider),
    vscode.workspace.onDidChangeWorkspaceFolders(() => { changed.fire(); }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("coppice.server.path")) changed.fire();
    }),
  );
}
