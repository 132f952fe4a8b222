import { askLabel, pin } from "../branches/marking";
import { switchBranch } from "../branches/switching";
import type { CoppiceClient } from "../client";
import { forkConversation } from "../commands/forking";
import type { Conversations } from "../conversations";
import { entryOf } from "../entries";
import { CoppiceError } from "../errors";
import type { ConversationAccess, Feature } from "./feature";
import type { FromPage } from "./messages";
import type { Chat } from "./panel";

/** What can be done with a message of the chat, and the way to other branches. */
export class MessageActions implements Feature {
  constructor(
    private readonly chat: Chat,
    private readonly access: ConversationAccess,
    private readonly client: CoppiceClient,
    private readonly conversations: Conversations,
  ) {}

  greet(): void {
    // The page is given what it needs with the conversation.
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    switch (message.type) {
      case "onMessage":
        if (conversationId !== undefined) await this.#act(conversationId, message.entryId, message.action);
        return true;
      case "showAlternative":
        if (conversationId !== undefined) await this.#showAlternative(conversationId, message.entryId);
        return true;
      case "showEntry":
        if (conversationId !== undefined) await this.#show(conversationId, message.entryId);
        return true;
      case "endPreview":
        await this.#endPreview(message.action);
        return true;
      default:
        return false;
    }
  }

  async #act(conversationId: string, entryId: string, action: Extract<FromPage, { type: "onMessage" }>["action"]): Promise<void> {
    switch (action) {
      case "pin":
      case "unpin":
        await pin(this.client, conversationId, entryId, action === "pin");
        return;
      case "label":
        await askLabel(this.client, conversationId, entryId, this.access.shown.labelOf(entryId));
        return;
      case "fork":
        await forkConversation(this.client, this.conversations, this.chat, entryId, await this.#isAsked(conversationId, entryId) ? "before" : "at");
        return;
      case "goTo":
        if ((await switchBranch(this.client, this.chat, conversationId, entryId)) === undefined) return;
        this.access.shown.endPreview();
        await this.access.shown.refresh();
        return;
    }
  }

  async #isAsked(conversationId: string, entryId: string): Promise<boolean> {
    const entry = await entryOf(this.client, conversationId, entryId);
    return entry.type === "message" && entry.message.role === "user";
  }

  /** Arrows leaf through the alternatives, so nothing is asked, and no summary is written. */
  async #showAlternative(conversationId: string, entryId: string): Promise<void> {
    if (this.access.shown.preview !== undefined) {
      await this.access.shown.look(conversationId, entryId);
      return;
    }
    const { leafId: targetId } = await this.client.request("coppice/branchEnd", { conversationId, entryId });
    const { cancelled, editorText } = await this.client.request("coppice/navigate", { conversationId, targetId });
    if (cancelled) return;
    if (editorText !== undefined) this.access.post({ type: "input", conversationId, text: editorText, ifEmpty: true });
    await this.access.shown.refresh();
    await this.access.shown.reveal(entryId);
  }

  async #show(conversationId: string, reference: string): Promise<void> {
    try {
      const { items: [found] } = await this.client.request("coppice/recall", { conversationId, entryIds: [reference], limit: 1, maxTokens: 100 });
      if (found !== undefined) this.chat.reveal(found.conversationId, found.entryId, found.onCurrentPath);
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "unknown-entry") throw error;
      this.access.post({ type: "notice", level: "info", text: "What this refers to is not in the conversation." });
    }
  }

  async #endPreview(action: "goTo" | "close"): Promise<void> {
    const { shown } = this.access;
    const { preview } = shown;
    if (preview === undefined) return;
    if (action === "goTo" && (await switchBranch(this.client, this.chat, preview.conversationId, preview.leafId)) === undefined) return;
    shown.endPreview();
    await shown.show(preview.conversationId);
    if (action === "goTo") await shown.reveal(preview.entryId);
  }
}
