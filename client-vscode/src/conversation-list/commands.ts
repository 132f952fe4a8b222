import type { Chat } from "../chat/panel";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import type { Conversation } from "../protocol.gen";
import type { ConversationsView } from "./view";

/** The id of the row that a command was called on, if it was one of this list. */
export function conversationOf(row: unknown): string | undefined {
  const isRow = typeof row === "object" && row !== null && "id" in row && "workspaceUri" in row;
  return isRow && typeof row.id === "string" ? row.id : undefined;
}

export function registerConversationListCommands(commands: Commands, conversations: Conversations, chat: Chat, view: ConversationsView): void {
  commands.add("coppice.conversations.open", async ({ id }: Conversation) => {
    await conversations.select(id);
    chat.focus();
  });
  commands.add("coppice.conversations.more", async () => { await Promise.resolve(); view.showMore(); });
}
