import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import { conversationOf } from "../conversation-list/commands";
import { loss, title } from "../conversation-list/model";
import type { Conversations } from "../conversations";
import { notify } from "../notify";
import { forkConversation } from "./forking";
import { pickConversation, pickFolder, pickHit } from "./pickers";
import type { Commands } from "./registry";

/** Nodes of a tree whose ends are counted. */
const MOST_COUNTED = 1000;

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
  commands.add("coppice.focusInput", async () => {
    await Promise.resolve();
    chat.focus();
  });
  commands.add("coppice.openConversation", async () => {
    const picked = await pickConversation(client, conversations.active);
    if (picked === undefined) return;
    await conversations.select(picked.id);
    chat.focus();
  });
  commands.add("coppice.renameConversation", async (row?: unknown) => {
    const conversationId = conversationOf(row) ?? conversations.current;
    const { conversation } = await client.request("coppice/conversation/get", { conversationId });
    const value = conversation.name ?? title(conversation);
    const validateInput = (given: string) => (given.trim() === "" ? "A name has at least one character." : undefined);
    const name = await vscode.window.showInputBox({ title: "Rename Conversation", value, validateInput });
    if (name !== undefined) await client.request("coppice/conversation/rename", { conversationId, name: name.trim() });
  });
  commands.add("coppice.deleteConversation", async (row?: unknown) => {
    const conversationId = conversationOf(row) ?? conversations.current;
    const [{ conversation }, { nodes }] = await Promise.all([
      client.request("coppice/conversation/get", { conversationId }),
      client.request("coppice/tree", { conversationId, mode: "branches", limit: MOST_COUNTED }),
    ]);
    const branches = nodes.filter(({ childCount }) => childCount === 0).length;
    const chosen = await notify.confirm(`Delete “${title(conversation)}”?`, loss(conversation, branches), "Delete");
    if (chosen !== "Delete") return;
    await client.request("coppice/conversation/delete", { conversationId });
    if (conversations.active === conversationId) await conversations.select(undefined);
  });
  commands.add("coppice.forkConversation", () => forkConversation(client, conversations, chat));
  commands.add("coppice.searchConversations", async () => {
    const hit = await pickHit(client);
    if (hit === undefined) return;
    chat.reveal(hit.conversationId, hit.entryId, hit.onCurrentBranch);
  });
}
