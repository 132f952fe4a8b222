import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import { title } from "../conversation-list/model";
import type { Conversations } from "../conversations";
import { forkName } from "../format";
import { notify } from "../notify";
import { MOST_CONVERSATIONS } from "./pickers";

/**
 * Makes a conversation of the path to an entry, by default to the leaf, and opens it. With `before` the path ends above
 * the entry, and what the user wrote there is in the input, to be asked in another way.
 */
export async function forkConversation(
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
  entryId?: string,
  position: "at" | "before" = "at",
): Promise<void> {
  const conversationId = conversations.current;
  const at = entryId ?? (await client.request("coppice/conversation/get", { conversationId })).conversation.leafId;
  if (at === null) {
    void notify.info("This conversation is empty.");
    return;
  }
  const { conversations: listed } = await client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS });
  const origin = listed.find(({ id }) => id === conversationId) ?? (await client.request("coppice/conversation/get", { conversationId })).conversation;
  const name = forkName(title(origin), new Set(listed.map(title)));
  const { conversation, editorText } = await client.request("coppice/conversation/fork", { conversationId, entryId: at, position, name });
  await conversations.select(conversation.id);
  if (editorText !== undefined) chat.setInput(editorText);
  chat.focus();
}
