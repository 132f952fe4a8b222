import * as vscode from "vscode";

import { ToolError } from "../errors";
import { textOfFile } from "../text-file";

/** The text of a file: that of the editor where it is open there, unsaved changes included. Null where there is none. */
export async function readText(path: string): Promise<string | null> {
  return openDocument(path)?.getText() ?? (await textOfFile(path));
}

/** Replaces the whole text as one step that the editor can undo; saves it, and gives what was saved. */
export async function writeText(path: string, text: string): Promise<string> {
  const uri = vscode.Uri.file(path);
  const edit = new vscode.WorkspaceEdit();
  if ((await readText(path)) === null) {
    edit.createFile(uri, { contents: new TextEncoder().encode(text) });
    await applied(edit, path);
    return text;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  edit.replace(uri, ...changedPart(document, text));
  await applied(edit, path);
  if (!(await document.save())) throw new ToolError(`${path} was changed in the editor and could not be saved.`);
  return document.getText();
}

/** Writes several files as one step that the editor can undo; null deletes one, into the trash where there is one. */
export async function writeTexts(files: ReadonlyMap<string, string | null>): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  const changed: vscode.TextDocument[] = [];
  for (const [path, text] of files) {
    const uri = vscode.Uri.file(path);
    const isThere = (await readText(path)) !== null;
    if (text === null) {
      edit.deleteFile(uri, { ignoreIfNotExists: true });
    } else if (isThere) {
      const document = await vscode.workspace.openTextDocument(uri);
      edit.replace(uri, ...changedPart(document, text));
      changed.push(document);
    } else {
      edit.createFile(uri, { contents: new TextEncoder().encode(text) });
    }
  }
  await applied(edit, "The files");
  await Promise.all(changed.map((document) => document.save()));
}

/** The lines that differ: what stays the same keeps its folds, markers and cursors. */
function changedPart(document: vscode.TextDocument, text: string): [vscode.Range, string] {
  const before = document.getText();
  let start = 0;
  while (start < before.length && start < text.length && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < text.length - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const range = new vscode.Range(document.positionAt(start), document.positionAt(before.length - end));
  // A place between `\r` and `\n` is none in a document.
  return document.getText(range).length === before.length - end - start
    ? [range, text.slice(start, text.length - end)]
    : [new vscode.Range(document.positionAt(0), document.positionAt(before.length)), text];
}

async function applied(edit: vscode.WorkspaceEdit, what: string): Promise<void> {
  if (!(await vscode.workspace.applyEdit(edit))) throw new ToolError(`${what} could not be changed by the editor.`);
}

function openDocument(path: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri, isClosed }) => !isClosed && uri.scheme === "file" && uri.fsPath === path);
}
