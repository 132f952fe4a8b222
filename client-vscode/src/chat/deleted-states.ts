import type { CoppiceClient } from "../client";
import { CoppiceError } from "../errors";
import type { Conversation, ListResult } from "../protocol.gen";
import type { WorkspaceSnapshots } from "../snapshots/workspace";

const PAGE = 1000;

type Client = Pick<CoppiceClient, "request">;
type Snapshots = Pick<WorkspaceSnapshots, "conversations" | "forget" | "share" | "warn">;

/**
 * Forgets the states of conversations that were deleted while no window was open. Their forks get what they have. Nothing
 * is forgotten where a conversation cannot be asked for, or none is in the store: then it is probably another store.
 */
export async function forgetDeleted(client: Client, snapshots: Snapshots): Promise<void> {
  try {
    const recorded = await snapshots.conversations();
    const deleted = new Set<string>();
    for (const id of recorded) if (await isDeleted(client, id)) deleted.add(id);
    if (deleted.size === 0 || deleted.size === recorded.length) return;
    for (const { id, parentConversationId: original } of await listed(client)) {
      if (original !== undefined && deleted.has(original) && !(await snapshots.share(id, original))) return;
    }
    await snapshots.forget(...deleted);
  } catch (error) {
    snapshots.warn(`Whether there are states of deleted conversations is not known. ${String(error)}`);
  }
}

async function isDeleted(client: Client, conversationId: string): Promise<boolean> {
  try {
    await client.request("coppice/conversation/get", { conversationId });
    return false;
  } catch (error) {
    if (error instanceof CoppiceError && error.code === "unknown-conversation") return true;
    throw error;
  }
}

/** Every conversation. What changes while the pages are read comes to the first one, which is therefore read again. */
async function listed(client: Client): Promise<Conversation[]> {
  const conversations: Conversation[] = [];
  let cursor: string | null = null;
  do {
    const page: ListResult = await client.request("coppice/conversation/list", { limit: PAGE, cursor });
    conversations.push(...page.conversations);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return [...conversations, ...(await client.request("coppice/conversation/list", { limit: PAGE })).conversations];
}
