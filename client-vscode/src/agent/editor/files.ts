import * as vscode from "vscode";

import { ToolError } from "../errors";
import { isSamePath } from "../paths";
import { bytesOfFile, textOfFile } from "../text-file";

/** Milliseconds to wait until VS Code has loaded a file again: its watcher collects changes for 75 to 275 ms, longer on a busy machine. */
const RELOAD_MS = 2000;
/** Milliseconds between two looks: each reads the file. */
const LOOK_MS = 50;

/** The text of a file without its byte order mark: the editor's where it has unsaved changes, else the disk's. Null where there is no file. */
export async function readText(path: string): Promise<string | null> {
  const document = openDocument(path);
  if (document === undefined) {
    const text = await textOfFile(path);
    return text && withoutMark(text);
  }
  // Also of one with unsaved changes: an edit saves the whole document.
  const text = await textOnDisk(document);
  return document.isDirty ? document.getText() : text;
}

/**
 * Replaces the whole text as one step that the editor can undo; saves it, and gives what was saved. A file that the
 * editor would save in another way than it is (one that it has not loaded again, or with two kinds of line ends) is
 * written on the disk. What stays the same in the text stays the same in the file, byte by byte.
 */
export async function writeText(path: string, text: string): Promise<string> {
  const uri = vscode.Uri.file(path);
  const edit = new vscode.WorkspaceEdit();
  const before = await readText(path);
  if (before === null) {
    edit.createFile(uri, { contents: new TextEncoder().encode(text) });
    await applied(edit, path);
    return text;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  await becomesCurrent(document);
  const now = await readText(path);
  if (now === null || !isSame(now, before)) throw new ToolError(`${path} has changed meanwhile, so nothing was written. Read it again.`);
  if (now !== document.getText()) {
    await vscode.workspace.fs.writeFile(uri, await vscode.workspace.encode(text, { encoding: document.encoding }));
    return text;
  }
  edit.replace(uri, ...changedPart(document, text));
  await applied(edit, path);
  // Whoever closes the tab meanwhile closes this object, and not the text that was changed.
  const changed = document.isClosed ? await vscode.workspace.openTextDocument(uri) : document;
  if (!(await changed.save())) {
    throw new ToolError(`${path} is changed in the editor, but not saved: it may be newer on the disk. It has to be compared and saved in the editor, or reverted there.`);
  }
  return changed.getText();
}

/** Deletes a file as one step that the editor can undo, into the trash where there is one. */
export async function removeFile(path: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.deleteFile(vscode.Uri.file(path), { ignoreIfNotExists: true });
  await applied(edit, path);
}

/** Whether a document has unsaved changes, which are the user's, or the text of the disk. */
function isCurrent(document: vscode.TextDocument, onDisk: string | null): boolean {
  return document.isDirty || (onDisk !== null && isSame(onDisk, document.getText()));
}

/** Waits until VS Code has loaded what is on the disk, which it does not in folders that it does not watch. */
async function becomesCurrent(document: vscode.TextDocument): Promise<void> {
  const until = Date.now() + RELOAD_MS;
  while (!isCurrent(document, await textOnDisk(document)) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Throws where the editor would save the text as other bytes than the file has: decoding has lost some. */
async function textOnDisk({ uri, encoding }: vscode.TextDocument): Promise<string | null> {
  const bytes = await bytesOfFile(uri.fsPath);
  if (bytes === null) return null;
  const text = await vscode.workspace.decode(bytes, { encoding }).then(withoutMark, () => {
    throw new ToolError(`${uri.fsPath} is a binary file on the disk.`);
  });
  if (!Buffer.from(await vscode.workspace.encode(text, { encoding })).equals(bytes)) {
    throw new ToolError(`${uri.fsPath} is open in the editor as ${encoding}, but it has bytes that the editor would save as others, so an edit would change characters elsewhere in it. The user has to choose “Reopen with Encoding” for it in the editor, or the file has to be converted to UTF-8.`);
  }
  return text;
}

/** As a document has it. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}

/** A document has one kind of line ends, whatever the file has. */
function isSame(text: string, other: string): boolean {
  const lines = (each: string): string => each.replaceAll(/\r\n?/g, "\n");
  return text === other || lines(text) === lines(other);
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
  return vscode.workspace.textDocuments.find(({ uri, isClosed }) => !isClosed && uri.scheme === "file" && isSamePath(uri.fsPath, path));
}
