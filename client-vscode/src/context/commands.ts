import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { Commands } from "../commands/registry";
import type { Attachments } from "./attachments";
import { shownPath } from "./suggestions";

/** The commands with which the editor and the explorer attach to the next message. */
export function registerContextCommands(commands: Commands, attachments: Attachments, chat: Chat): void {
  commands.add("coppice.addSelection", async () => {
    await Promise.resolve();
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) throw new Error("No editor is open.");
    const path = inWorkspace(editor.document.uri);
    const { start, end, isEmpty } = editor.selection;
    const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
    attachments.add(isEmpty ? { kind: "file", path } : { kind: "lines", path, start: start.line + 1, end: last });
    chat.focus();
  });
  commands.add("coppice.addFile", async (uri?: unknown, selected?: unknown) => {
    await Promise.resolve();
    const chosen = Array.isArray(selected) ? selected.filter((each) => each instanceof vscode.Uri) : [];
    const active = vscode.window.activeTextEditor?.document.uri;
    const uris = chosen.length > 0 ? chosen : uri instanceof vscode.Uri ? [uri] : active === undefined ? [] : [active];
    if (uris.length === 0) throw new Error("No file is open.");
    for (const each of uris) attachments.add({ kind: "file", path: inWorkspace(each) });
    chat.focus();
  });
}

function inWorkspace(uri: vscode.Uri): string {
  const path = shownPath(uri);
  if (path === undefined) throw new Error("Only files of the workspace can be attached.");
  return path;
}
