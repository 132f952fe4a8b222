import * as vscode from "vscode";

import { NoServerError } from "../errors";
import type { Found } from "../server/find";
import { namedServers } from "./definitions";

/** The contribution `mcpServerDefinitionProviders` of package.json has it too. */
const PROVIDER = "coppice.history";

/** VS Code's API for MCP servers, which is newer (1.101) than the oldest version that the extension runs in. */
interface McpApi {
  lm: {
    registerMcpServerDefinitionProvider?: (id: string, provider: Provider) => vscode.Disposable;
  };
  McpStdioServerDefinition?: new (label: string, command: string, args: string[], env: Record<string, string>, version: string) => Definition;
}

interface Definition {
  cwd?: vscode.Uri;
}

interface Provider {
  onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions: () => Promise<Definition[]>;
}

/**
 * Offers the history of each workspace folder to the agents of VS Code, Copilot Chat for one. Does nothing where VS Code
 * has no such servers; where Coppice's own is not installed, there are none.
 */
export function registerHistoryServers(context: vscode.ExtensionContext, find: () => Promise<Found>): void {
  const api = vscode as unknown as McpApi;
  const { McpStdioServerDefinition: StdioServer } = api;
  const register = api.lm.registerMcpServerDefinitionProvider?.bind(api.lm);
  if (register === undefined || StdioServer === undefined) return;

  const changed = new vscode.EventEmitter<void>();
  const version = String((context.extension.packageJSON as { version: unknown }).version);
  const provider: Provider = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: async () => {
      const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, uri, local: uri.scheme === "file" }));
      const servers = namedServers(folders);
      if (servers.length === 0) return [];
      try {
        const { command } = await find();
        return servers.map(({ label, folder }) => {
          const definition = new StdioServer(label, command, ["mcp", "--workspace", folder.uri.fsPath], {}, version);
          definition.cwd = folder.uri;
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
    register(PROVIDER, provider),
    vscode.workspace.onDidChangeWorkspaceFolders(() => { changed.fire(); }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("coppice.server.path")) changed.fire();
    }),
  );
}
