import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { notify } from "../notify";
import type { Note } from "../protocol.gen";
import type { Commands } from "./registry";

/** Characters of a note; the server refuses more. */
const MOST_CHARS = 4000;
const REMOVE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Remove" };

interface NoteItem extends vscode.QuickPickItem {
  note?: Note | undefined;
}

/** A note and the button that was used; no note means a new one. */
interface Picked {
  note?: Note | undefined;
  button?: vscode.QuickInputButton;
}

/** The commands for the notes of a workspace, which every conversation in it shows to its model. */
export function registerNoteCommands(commands: Commands, client: CoppiceClient): void {
  commands.add("coppice.addNote", async (given?: unknown) => {
    const text = typeof given === "string" && given !== "" ? given : await typed("Add Note");
    if (text === undefined) return;
    const workspaceUri = await workspace();
    if (workspaceUri === undefined) return;
    await client.request("coppice/note/add", { workspaceUri, text });
    vscode.window.setStatusBarMessage("$(note) The note was added.", 4000);
  });
  commands.add("coppice.showNotes", async () => {
    const workspaceUri = await workspace();
    if (workspaceUri !== undefined) await showNotes(client, workspaceUri);
  });
}

async function showNotes(client: CoppiceClient, workspaceUri: string | null): Promise<void> {
  const { notes } = await client.request("coppice/note/list", { workspaceUri });
  const items: NoteItem[] = notes.reverse().map((note) => ({
    label: note.text.replaceAll(/\s+/g, " "),
    description: `${note.author}, ${new Date(note.timestamp).toLocaleDateString()}`,
    buttons: [REMOVE],
    note,
  }));
  const picked = await pick([...items, { label: "$(add) Add Note…" }]);
  if (picked === undefined) return;
  const { note, button } = picked;
  if (note === undefined) {
    await vscode.commands.executeCommand("coppice.addNote");
  } else if (button === REMOVE) {
    await remove(client, workspaceUri, note);
  } else {
    const text = await typed("Change Note", note.text);
    // Who reads a note to its end and presses Enter has not written it.
    if (text === undefined || text === note.text) return;
    await client.request("coppice/note/replace", { workspaceUri, noteId: note.id, text });
    vscode.window.setStatusBarMessage("$(note) The note was changed.", 4000);
  }
}

async function remove(client: CoppiceClient, workspaceUri: string | null, note: Note): Promise<void> {
  await client.request("coppice/note/remove", { workspaceUri, noteId: note.id });
  const chosen = await notify.info("The note was removed.", "Undo");
  if (chosen === "Undo") await client.request("coppice/note/add", { workspaceUri, text: note.text, author: note.author });
}

async function pick(items: NoteItem[]): Promise<Picked | undefined> {
  const list = vscode.window.createQuickPick<NoteItem>();
  list.title = "Notes of This Workspace";
  list.placeholder = "Every conversation shows these to its model. Pick one to change it.";
  list.items = items;
  try {
    return await new Promise((resolve) => {
      list.onDidAccept(() => { resolve(list.selectedItems[0]); });
      list.onDidTriggerItemButton(({ item, button }) => { resolve({ note: item.note, button }); });
      list.onDidHide(() => { resolve(undefined); });
      list.show();
    });
  } finally {
    list.dispose();
  }
}

async function typed(title: string, value = ""): Promise<string | undefined> {
  const validateInput = (given: string): string | undefined => {
    if (given.trim() === "") return "A note has at least one character.";
    return given.length > MOST_CHARS ? `A note has at most ${MOST_CHARS} characters.` : undefined;
  };
  return vscode.window.showInputBox({ title, value, prompt: "Every conversation of this workspace shows it to its model.", validateInput });
}

/** The folder whose notes are meant: null for the only one or none, undefined where the user picked none. */
async function workspace(): Promise<string | null | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length < 2) return null;
  const folder = await vscode.window.showWorkspaceFolderPick({ placeHolder: "Whose notes?" });
  return folder?.uri.toString();
}
