import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";

/** Makes a conversation of the path to an entry, by default to the leaf, and opens it. */
export async function forkConversation(
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
  entryId?: string,
): Promise<void> {
  const conversationId = conversations.current;
  const at = entryId ?? (await client.request("coppice/conversation/get", { conversationId })).conversation.leafId;
  if (at === null) {
    void vscode.window.showInformationMessage("Nothing has been said in this conversation yet.");
    return;
  }
  const { conversation, editorText } = await client.request("coppice/conversation/fork", { conversationId, entryId: at, position: "at" });
  await conversations.select(conversation.id);
  if (editorText !== undefined) chat.setInput(editorText);
  chat.focus();
}
