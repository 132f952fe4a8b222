import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { beforeAndAfter, counted } from "../format";
import { notify } from "../notify";
import { watched } from "../progress/watched";
import type { CompactionEnded } from "../protocol.gen";
import type { Commands } from "./registry";

export function registerCompactionCommands(
  commands: Commands,
  context: vscode.ExtensionContext,
  client: CoppiceClient,
  conversations: Conversations,
): void {
  const compact = (instructions?: string) => {
    const params = { conversationId: conversations.current, instructions: instructions ?? null };
    return watched(client, "Compacting", "coppice/compact", params);
  };
  commands.add("coppice.compact", () => compact());
  commands.add("coppice.compactWithFocus", async () => {
    const prompt = "What must the summary not lose?";
    const focus = await vscode.window.showInputBox({ title: "Compact with Focus", prompt });
    if (focus !== undefined) await compact(focus);
  });
  commands.add("coppice.clearToolResults", () => clearToolResults(client, conversations.current));
  commands.add("coppice.undoCompaction", async (compactionId?: unknown) => {
    await client.request("coppice/undoCompaction", {
      conversationId: conversations.current,
      // A menu of a view gives other things.
      compactionId: typeof compactionId === "string" ? compactionId : null,
    });
    void notify.info("Undone. What was undone stays in the tree.");
  });
  commands.add("coppice.cancelWork", async () => {
    const { cancelled } = await client.request("coppice/cancel", { conversationId: conversations.current });
    if (cancelled.length === 0) void notify.info("Nothing is running.");
  });
  commands.add("coppice.status.work", async () => {
    const work = client.progress.latest;
    if (work === undefined) return;
    const message = [work.title, work.message].filter((part) => part !== undefined).join(": ");
    const chosen = await notify.info(message, "Stop");
    if (chosen === "Stop") await vscode.commands.executeCommand("coppice.cancelWork");
  });
  context.subscriptions.push(
    client.onNotification("coppice/compactionEnded", (ended) => {
      if (ended.conversationId === conversations.active) void notifyEnded(ended);
    }),
  );
}

/** Says what would be cleared, and clears it where the user wants that. */
async function clearToolResults(client: CoppiceClient, conversationId: string): Promise<void> {
  const looked = await client.request("coppice/clearToolResults", { conversationId, preview: true });
  if (looked.cleared.length === 0) {
    void notify.info(looked.reason ?? "There is no tool result to clear.");
    return;
  }
  const what = counted(looked.cleared.length, "old tool result");
  const detail = `${beforeAndAfter(looked.tokensBefore, looked.tokensAfter)}. The model sees a line in place of each; they stay in the conversation.`;
  if ((await notify.confirm(`Clear ${what}?`, detail, "Clear")) === undefined) return;
  const { entry, tokensBefore, tokensAfter } = await client.request("coppice/clearToolResults", { conversationId });
  if (entry === undefined) return;
  const chosen = await notify.info(`Cleared ${what}: ${beforeAndAfter(tokensBefore, tokensAfter)}`, "Undo");
  if (chosen !== undefined) await client.request("coppice/undoCompaction", { conversationId, compactionId: entry.id });
}

/** What a compaction came to. A failed one that was asked for is reported by its command. */
async function notifyEnded({ status, reason, tokensBefore, tokensAfter, entryId, error }: CompactionEnded): Promise<void> {
  if (status === "failed" && reason !== "manual") {
    void notify.warn(`The conversation could not be compacted. ${error ?? ""}`.trim());
  }
  if (status !== "completed" || tokensBefore === undefined || tokensAfter === undefined) return;
  const message = `Compacted: ${beforeAndAfter(tokensBefore, tokensAfter)}`;
  const chosen = await notify.info(message, "Undo", "Show What the Model Sees");
  if (chosen === "Undo") await vscode.commands.executeCommand("coppice.undoCompaction", entryId);
  if (chosen !== undefined && chosen !== "Undo") await vscode.commands.executeCommand("coppice.showContext");
}
