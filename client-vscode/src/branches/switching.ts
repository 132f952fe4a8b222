import * as vscode from "vscode";

import type { BranchFiles } from "../chat/branch-files";
import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import { counted, shortTokens } from "../format";
import { watched } from "../progress/watched";
import type { NavigatePreviewResult, NavigateResult } from "../protocol.gen";

/** How the branch that is left is summarized for the one that is entered. */
interface Telling {
  summarize: boolean;
  instructions?: string;
}

/** Goes to another entry, after asking what becomes of the branch that is left. */
export async function switchBranch(
  client: CoppiceClient,
  chat: Chat,
  branchFiles: BranchFiles,
  conversationId: string,
  targetId: string,
): Promise<NavigateResult | undefined> {
  const preview = await client.request("coppice/navigatePreview", { conversationId, targetId });
  if (preview.leafId === targetId) return undefined;
  const telling = preview.entriesToSummarize.length === 0 ? { summarize: false } : await askHow(preview);
  if (telling === undefined) return undefined;
  const params = { conversationId, targetId, ...telling };
  chat.focus(); // What becomes of the files is asked there.
  const [beginId] = preview.entriesToSummarize;
  const result = await branchFiles.move(conversationId, targetId, async (left) => {
    if (!telling.summarize || beginId === undefined) return client.request("coppice/navigate", params);
    const files = await left(beginId);
    return watched(client, "Summarizing branch", "coppice/navigate", { ...params, ...files && { branchFiles: files } });
  });
  if (result === undefined) return undefined;
  if (result.editorText !== undefined) chat.setInput(result.editorText);
  return result;
}

async function askHow(preview: NavigatePreviewResult): Promise<Telling | undefined> {
  const ask = vscode.workspace.getConfiguration("coppice").get<string>("branchSummary.ask", "ask");
  if (ask !== "ask") return { summarize: ask === "always" };
  const size = `${counted(preview.entriesToSummarize.length, "entry", "entries")}, ${shortTokens(preview.tokens)} tokens`;
  const choices = [
    { label: "No summary", detail: "The branch that is left stays as it is, and the other one knows nothing of it.", choice: "none" },
    { label: "Summarize", detail: "The other branch gets a summary of this one.", choice: "summary" },
    { label: "Summarize with focus…", detail: "The same, and you say what matters.", choice: "focus" },
    { label: "Cancel", detail: "Stay here.", choice: "cancel" },
  ] as const;
  const picked = await vscode.window.showQuickPick(choices, {
    title: "Switch Branch",
    placeHolder: `You are leaving ${size}.`,
  });
  switch (picked?.choice) {
    case "none":
      return { summarize: false };
    case "summary":
      return { summarize: true };
    case "focus": {
      const instructions = await vscode.window.showInputBox({ title: "Summarize with Focus", prompt: "What matters on the branch you are leaving?" });
      return instructions === undefined ? undefined : { summarize: true, instructions };
    }
    default:
      return undefined;
  }
}
