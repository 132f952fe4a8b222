import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import { switchBranch } from "../branches/switching";
import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { forkConversation } from "./forking";
import { pickConversation, pickFolder, pickHit, title } from "./pickers";
import type { Commands } from "./registry";

/** The palette's commands on whole conversations. */
export function registerConversationCommands(
  commands: Commands,
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
): void {
  commands.add("coppice.newConversation", async () => {
    const folder = await pickFolder("New Conversation");
    if (folder === undefined) return;
    await conversations.create(undefined, folder === "none" ? undefined : folder.uri);
    chat.focus();
  });
  commands.add("coppice.openConversation", async () => {
    const picked = await pickConversation(client, conversations.active);
    if (picked === undefined) return;
    await conversations.select(picked.id);
    chat.focus();
  });
  commands.add("coppice.renameConversation", async () => {
    const conversationId = conversations.current;
    const { conversation } = await client.request("coppice/conversation/get", { conversationId });
    const value = conversation.name ?? title(conversation);
    const validateInput = (given: string) => (given.trim() === "" ? "A name has at least one character." : undefined);
    const name = await vscode.window.showInputBox({ title: "Rename Conversation", value, validateInput });
    if (name !== undefined) await client.request("coppice/conversation/rename", { conversationId, name: name.trim() });
  });
  commands.add("coppice.deleteConversation", async () => {
    const conversationId = conversations.current;
    const { conversation } = await client.request("coppice/conversation/get", { conversationId });
    const detail = "All its branches are deleted from this machine, and this cannot be undone. Export it first to keep a copy.";
    const message = `Delete “${title(conversation)}”?`;
    const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, "Delete");
    if (chosen !== "Delete") return;
    await client.request("coppice/conversation/delete", { conversationId });
    if (conversations.active === conversationId) await conversations.select(undefined);
  });
  commands.add("coppice.forkConversation", () => forkConversation(client, conversations, chat));
  commands.add("coppice.searchConversations", async () => {
    const hit = await pickHit(client);
    if (hit === undefined) return;
    await conversations.select(hit.conversationId);
    if (hit.onCurrentBranch) chat.focus();
    else await switchBranch(client, chat, hit.conversationId, hit.entryId);
  });
}
