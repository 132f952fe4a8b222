import { askLabel, pin } from "../branches/marking";
import { switchBranch } from "../branches/switching";
import type { CoppiceClient } from "../client";
import { forkConversation } from "../commands/forking";
import type { Conversations } from "../conversations";
import { entryOf, messageOf } from "../entries";
import { CoppiceError } from "../errors";
import type { BranchFiles } from "./branch-files";
import type { ChatAccess, Feature, PageAccess } from "./feature";
import type { FromPage } from "./messages";
import type { Chat } from "./panel";
import { messageContent } from "./resending";

/** What can be done with a message of the chat, and the way to other branches. */
export class MessageActions implements Feature {
  constructor(
    private readonly chat: Chat,
    private readonly access: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly conversations: Conversations,
    private readonly branchFiles: BranchFiles,
  ) {}

  greet(): void {
    // The page is given what it needs with the conversation.
  }

  async handle(message: FromPage, conversationId: string | undefined, page: PageAccess): Promise<boolean> {
    switch (message.type) {
      case "resend":
        if (conversationId !== undefined) await this.#resend(page, conversationId, message.entryId, message.text);
        return true;
      case "onMessage":
        if (conversationId !== undefined) await this.#act(page, conversationId, message.entryId, message.action);
        return true;
      case "showAlternative":
        if (conversationId !== undefined) await this.#showAlternative(page, conversationId, message.entryId);
        return true;
      case "showEntry":
        if (conversationId !== undefined) await this.#show(page, conversationId, message.entryId);
        return true;
      case "endPreview":
        await this.#endPreview(page, message.action);
        return true;
      default:
        return false;
    }
  }

  /** Goes back to before a message of the user's, which leaves the branch as it is, and sends the message there. */
  async #resend(page: PageAccess, conversationId: string, entryId: string, text: string | undefined): Promise<void> {
    const { entry, attached } = await messageOf(this.client, conversationId, entryId);
    const content = messageContent(entry, text, attached);
    const putBack = (): void => { if (text !== undefined) this.access.putDraft(conversationId, text, { afterOther: true }); };
    const navigate = () => this.client.request("coppice/navigate", { conversationId, targetId: entryId });
    const result = await this.branchFiles.move(conversationId, entryId, navigate, text).catch((error: unknown) => {
      putBack();
      throw error;
    });
    if (result === undefined || result.cancelled) {
      putBack();
      if (result !== undefined) page.post({ type: "notice", level: "info", text: "An extension kept the conversation on its branch." });
      return;
    }
    this.access.run(conversationId, { content });
  }

  async #act({ shown }: PageAccess, conversationId: string, entryId: string, action: Extract<FromPage, { type: "onMessage" }>["action"]): Promise<void> {
    switch (action) {
      case "pin":
      case "unpin":
        await pin(this.client, conversationId, entryId, action === "pin");
        return;
      case "label":
        await askLabel(this.client, conversationId, entryId, shown.labelOf(entryId));
        return;
      case "fork":
        await forkConversation(this.client, this.conversations, this.chat, entryId, await this.#isAsked(conversationId, entryId) ? "before" : "at");
        return;
      case "goTo":
        if ((await switchBranch(this.client, this.chat, this.branchFiles, conversationId, entryId)) === undefined) return;
        shown.endPreview();
        await shown.refresh();
        return;
    }
  }

  async #isAsked(conversationId: string, entryId: string): Promise<boolean> {
    const entry = await entryOf(this.client, conversationId, entryId);
    return entry.type === "message" && entry.message.role === "user";
  }

  /** Arrows leaf through the alternatives, so nothing is asked, and no summary is written. */
  async #showAlternative({ shown }: PageAccess, conversationId: string, entryId: string): Promise<void> {
    if (shown.preview !== undefined) {
      await shown.look(conversationId, entryId);
      return;
    }
    const { leafId: targetId } = await this.client.request("coppice/branchEnd", { conversationId, entryId });
    const result = await this.branchFiles.move(conversationId, targetId, () => this.client.request("coppice/navigate", { conversationId, targetId }));
    if (result === undefined || result.cancelled) return;
    const { editorText } = result;
    if (editorText !== undefined) this.access.putDraft(conversationId, editorText, { ifEmpty: true });
    await shown.refresh();
    await shown.reveal(entryId);
  }

  async #show(page: PageAccess, conversationId: string, reference: string): Promise<void> {
    try {
      const { items: [hit] } = await this.client.request("coppice/recall", { conversationId, entryIds: [reference], limit: 1, maxTokens: 100 });
      if (hit !== undefined) this.chat.reveal(hit.conversationId, hit.entryId, hit.onCurrentPath);
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "unknown-entry") throw error;
      page.post({ type: "notice", level: "info", text: "What this refers to is not in the conversation." });
    }
  }

  async #endPreview({ shown }: PageAccess, action: "goTo" | "close"): Promise<void> {
    const { preview } = shown;
    if (preview === undefined) return;
    if (action === "goTo" && (await switchBranch(this.client, this.chat, this.branchFiles, preview.conversationId, preview.leafId)) === undefined) return;
    shown.endPreview();
    await shown.show(preview.conversationId);
    if (action === "goTo") await shown.reveal(preview.entryId);
  }
}
