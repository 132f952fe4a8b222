import * as vscode from "vscode";

/** Writes settings of the section `coppice` for the user, and never for the workspace; undefined takes one away. */
export async function setPersonal(values: Record<string, unknown>): Promise<void> {
  const settings = vscode.workspace.getConfiguration("coppice");
  for (const [name, value] of Object.entries(values)) await settings.update(name, value, vscode.ConfigurationTarget.Global);
}

/** Has a model of VS Code answer from now on. */
export async function setEditorModel({ id, maxInputTokens }: vscode.LanguageModelChat): Promise<void> {
  await setPersonal({ "model.provider": "editor", "model.name": id, "model.contextWindow": maxInputTokens, "model.baseUrl": undefined });
}
