import * as vscode from "vscode";

import type { CoppiceClient } from "../client";

/** Pins a message, so that the model sees it word for word from now on, or no longer. */
export async function pin(client: CoppiceClient, conversationId: string, entryId: string, pinned: boolean): Promise<void> {
  await client.request("coppice/pin", { conversationId, entryId, pinned });
}

/** Asks for the label of an entry, which has `value` now; an empty answer takes it away. */
export async function askLabel(client: CoppiceClient, conversationId: string, entryId: string, value = ""): Promise<void> {
  const given = await vscode.window.showInputBox({ title: "Label", prompt: "A name for this place. Empty takes it away.", value });
  if (given === undefined) return;
  const name = given.trim();
  await client.request("coppice/label", { conversationId, entryId, ...(name === "" ? {} : { label: name }) });
}
