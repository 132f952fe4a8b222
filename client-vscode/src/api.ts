import * as vscode from "vscode";

import type { CoppiceApi } from "../api";
import type { CoppiceClient } from "./client";
import type { Conversations } from "./conversations";
import type { CompactionEnded, ConversationChanged } from "./protocol.gen";

/** What other extensions get as this one's `exports`; described in `api.d.ts`. */
export function makeApi(context: vscode.ExtensionContext, client: CoppiceClient, conversations: Conversations): CoppiceApi {
  const changed = new vscode.EventEmitter<ConversationChanged>();
  const compacted = new vscode.EventEmitter<CompactionEnded>();
  context.subscriptions.push(
    changed,
    compacted,
    client.onNotification("coppice/conversationChanged", (params) => { changed.fire(params); }),
    client.onNotification("coppice/compactionEnded", (params) => { compacted.fire(params); }),
  );
  return {
    version: 1,
    get active() {
      return conversations.active;
    },
    create: async ({ name, folder } = {}) => {
      const params = { name: name ?? null, workspaceUri: folder?.toString() ?? null };
      return (await client.request("coppice/conversation/create", params)).conversation;
    },
    append: (conversationId, entries, options) => client.request("coppice/append", { conversationId, entries, ...options }),
    context: (conversationId, options) => client.request("coppice/context", { conversationId, ...options }),
    compact: (conversationId, { token, ...options } = {}) =>
      client.request("coppice/compact", { conversationId, ...options }, token),
    navigate: (conversationId, targetId, { token, ...options } = {}) =>
      client.request("coppice/navigate", { conversationId, targetId, ...options }, token),
    onDidChangeConversation: changed.event,
    onDidCompact: compacted.event,
  };
}
