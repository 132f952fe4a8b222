import { homedir } from "node:os";

import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import { conversationOf } from "../conversation-list/commands";
import { title } from "../conversation-list/model";
import type { Conversations } from "../conversations";
import { counted } from "../format";
import { notify } from "../notify";
import { pickFolder } from "./pickers";
import type { Commands } from "./registry";

const FORMATS = [
  { label: "Markdown", detail: "To read; the current branch.", format: "markdown", ending: "md" },
  { label: "Coppice", detail: "Everything, all branches; can be imported again.", format: "coppice", ending: "jsonl" },
  { label: "Pi", detail: "A session file of Pi, version 3.", format: "pi", ending: "jsonl" },
] as const;

/** Import and export, through files that the user names. */
export function registerExchangeCommands(
  commands: Commands,
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
  log: vscode.LogOutputChannel,
): void {
  commands.add("coppice.importConversation", async () => {
    const file = await openFile();
    if (file === undefined) return;
    const folder = await pickFolder("Import Conversation");
    if (folder === undefined) return;
    const workspaceUri = folder === "none" ? null : folder.uri.toString();
    const location = vscode.ProgressLocation.Notification;
    const { conversation, warnings } = await vscode.window.withProgress(
      { location, title: "Importing", cancellable: true },
      (_progress, token) => client.request("coppice/conversation/import", { uri: file.toString(), workspaceUri }, token),
    );
    await conversations.select(conversation.id);
    chat.focus();
    await tellWarnings(warnings, log);
  });
  commands.add("coppice.exportConversation", async (chosenRow?: unknown) => {
    const conversationId = conversationOf(chosenRow) ?? conversations.current;
    const picked = await vscode.window.showQuickPick(FORMATS, { title: "Export Conversation" });
    if (picked === undefined) return;
    const { conversation } = await client.request("coppice/conversation/get", { conversationId });
    const name = title(conversation).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "conversation";
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
    const file = await vscode.window.showSaveDialog({
      title: "Export Conversation",
      filters: { [picked.label]: [picked.ending] },
      defaultUri: vscode.Uri.joinPath(folder, `${name}.${picked.ending}`),
    });
    if (file === undefined) return;
    // The dialog has asked before it gave the name of a file that exists.
    const target = { format: picked.format, uri: file.toString(), overwrite: true };
    await client.request("coppice/conversation/export", { conversationId, ...target });
    const chosen = await notify.info("The conversation is exported.", "Open");
    if (chosen === "Open") await vscode.window.showTextDocument(file);
  });
}

async function openFile(): Promise<vscode.Uri | undefined> {
  const filters = { "Session files": ["jsonl"], "All files": ["*"] };
  const [file] = (await vscode.window.showOpenDialog({ title: "Import Conversation", openLabel: "Import", filters })) ?? [];
  return file;
}

async function tellWarnings(warnings: string[], log: vscode.LogOutputChannel): Promise<void> {
  if (warnings.length === 0) return;
  for (const warning of warnings) log.warn(`Import: ${warning}`);
  const chosen = await notify.warn(
    `The conversation is imported, with ${counted(warnings.length, "warning")}.`,
    "Open Log",
  );
  if (chosen === "Open Log") log.show();
}
