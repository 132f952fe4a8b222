import * as vscode from "vscode";

import { explicitSettings, serverSettings } from "./explicit";

interface Package {
  contributes: { configuration: { properties: Record<string, { scope?: string }> } };
}

/** The section `coppice` for the server, as it holds for `resource`. */
export function serverSection(extension: vscode.Extension<unknown>, resource?: vscode.Uri): Record<string, unknown> {
  const { properties } = (extension.packageJSON as Package).contributes.configuration;
  const configuration = vscode.workspace.getConfiguration("coppice", resource);
  return explicitSettings(serverSettings(properties), (name) => configuration.inspect(name));
}
