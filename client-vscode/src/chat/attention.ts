import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import { oneLine } from "../format";
import { notify } from "../notify";
import type { ChatAccess } from "./feature";
import type { Chat } from "./panel";

/** Shows a notification where a turn ends or waits for approval and nobody looks at this window. */
export function callForAttention(chat: Chat, approvals: Approvals, turns: Pick<ChatAccess, "onTurnEnd">): { dispose(): unknown } {
  const seen = new Set<string>();
  const call = async (text: string): Promise<void> => {
    if (vscode.window.state.focused || !vscode.workspace.getConfiguration("coppice").get<boolean>("chat.notify", true)) return;
    const chosen = await notify.info(text, "Show Chat");
    if (chosen !== undefined) chat.focus();
  };
  turns.onTurnEnd(({ isDone, isElsewhere }) => {
    if (!isElsewhere) void call(isDone ? "Coppice: the reply is complete." : "Coppice: the turn has ended before it was done.");
  });
  return approvals.onDidChange(() => {
    for (const { id, title, interrupted } of approvals.pending()) {
      if (interrupted || seen.has(id)) continue;
      seen.add(id);
      void call(`Coppice waits for your approval: ${oneLine(title, 100)}`);
    }
  });
}
