import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { isBegun } from "../conversation-list/model";
import { notify } from "../notify";
import { target } from "./links";
import type { ChatMemory } from "./memory";
import type { FromPage } from "./messages";
import type { ModelOffer } from "./offer";
import type { ChatPage } from "./page";
import { setPrices } from "./set-prices";
import type { Sending } from "./sending";
import type { Turns } from "./turns";

const MOST_CONVERSATIONS = 200;

/** Does what pages ask for, but for what is a feature's. */
export class Requests {
  constructor(
    private readonly client: CoppiceClient,
    private readonly memory: ChatMemory,
    private readonly offer: ModelOffer,
    private readonly turns: Turns,
    private readonly sending: Sending,
  ) {}

  async handle(message: FromPage, page: ChatPage): Promise<void> {
    const { shown } = page;
    switch (message.type) {
      case "send":
        await this.sending.send(page, message.text);
        return;
      case "showEarlier":
        await shown.showEarlier(message.before);
        return;
      case "showUsage":
        await shown.showUsage(setPrices() !== undefined);
        return;
      case "listConversations": {
        const { conversations } = await this.client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS });
        page.post({ type: "conversations", conversations: conversations.filter((each) => isBegun(each) || each.id === shown.id) });
        return;
      }
      case "open":
        if (shown.preview === undefined && shown.id === message.conversationId) return;
        shown.endPreview();
        await page.show(message.conversationId);
        return;
      case "newConversation":
        await page.show(undefined);
        page.post({ type: "focus" });
        return;
      case "place":
        await this.memory.keepPlace(message);
        return;
      case "openLink":
        await openLink(message.href);
        return;
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        return;
      case "run":
        await vscode.commands.executeCommand(message.command);
        return;
      case "takeModel":
        await this.offer.take();
        return;
      case "decide":
        await this.sending.decide(page, message.id, message.decision);
        return;
    }
    if (shown.id !== undefined) await this.#handleShown(message, page, shown.id);
  }

  /** What is asked for needs a conversation. */
  async #handleShown(message: FromPage, page: ChatPage, conversationId: string): Promise<void> {
    switch (message.type) {
      case "stop":
        await this.turns.stop(conversationId);
        return;
      case "askNow":
        await this.client.request("coppice/askNow", { conversationId });
        return;
      case "resume":
        await this.sending.run(conversationId, { resume: true });
        return;
      case "compact": {
        const { entry, warnings, report } = await this.client.request("coppice/compact", { conversationId });
        page.post({ type: "compacted", entryId: entry.id, warnings, report });
        return;
      }
      case "undoCompaction":
        await this.client.request("coppice/undoCompaction", { conversationId, compactionId: message.entryId });
        return;
    }
  }
}

async function openLink(href: string): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const destination = target(href, folders);
  if (destination === undefined) {
    void notify.warn(`This link does not lead into the workspace: ${href.slice(0, 200)}`);
  } else if (destination.kind === "web") {
    await vscode.env.openExternal(vscode.Uri.parse(destination.url, true));
  } else {
    const line = Math.max(0, (destination.line ?? 1) - 1);
    const selection = destination.line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await vscode.window.showTextDocument(vscode.Uri.file(destination.path), { preview: true, ...selection });
  }
}
