import { open } from "node:fs/promises";

import * as vscode from "vscode";

import { ToolError } from "../errors";

/** Bytes. A guess: what an editor still opens at once. */
const LARGEST = 10_000_000;

/** The text of a file: that of the editor where it is open there, unsaved changes included. Null where there is none. */
export async function readText(path: string): Promise<string | null> {
  const document = openDocument(path);
  if (document !== undefined) return document.getText();
  const file = await open(path, "r").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ToolError(`${path} cannot be opened.`);
  });
  if (file === undefined) return null;
  try {
    const state = await file.stat();
    // A device or a pipe could be read for ever.
    if (!state.isFile()) throw new ToolError(`${path} is ${state.isDirectory() ? "a folder. Use list_files" : "no regular file"}.`);
    if (state.size > LARGEST) throw new ToolError(`The file is too large to read at once: ${state.size.toLocaleString("en")} bytes. Use search or run_command.`);
    return decoded(await file.readFile());
  } finally {
    await file.close();
  }
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

function decoded(bytes: Uint8Array): string {
  if (bytes.subarray(0, 8000).includes(0)) throw new ToolError("This is a binary file.");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError("This file is not encoded in UTF-8.");
  }
}
