import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import { oneLine } from "../format";
import { notify } from "../notify";
import type { ChatAccess } from "./feature";
import type { Chat } from "./panel";

/**
 * Shows a notification where a turn ends and nobody looks at this window, and where one waits for approval and nobody
 * sees its conversation. It leads to the conversation.
 */
export function callForAttention(chat: Chat, approvals: Approvals, turns: Pick<ChatAccess, "onTurnEnd">): { dispose(): unknown } {
  const seen = new Set<string>();
  const call = async (conversationId: string, text: string, isSeen: boolean): Promise<void> => {
    if (isSeen || !vscode.workspace.getConfiguration("coppice").get<boolean>("chat.notify", true)) return;
    const chosen = await notify.info(text, "Show Chat");
    if (chosen !== undefined) chat.show(conversationId);
  };
  const isFocused = (): boolean => vscode.window.state.focused;
  turns.onTurnEnd(({ conversationId, isDone, isElsewhere }) => {
    if (!isElsewhere) void call(conversationId, isDone ? "Coppice: the reply is complete." : "Coppice: the turn has ended before it was done.", isFocused());
  });
  return approvals.onDidChange(() => {
    for (const { id, conversationId, title, interrupted } of approvals.pending()) {
      if (interrupted || seen.has(id)) continue;
      seen.add(id);
      void call(conversationId, `Coppice waits for your approval: ${oneLine(title, 100)}`, isFocused() && chat.isSeen(conversationId));
    }
  });
}
