import type { Approvals } from "../approvals/approvals";
import type { ApprovalDecision } from "../approvals/approval";
import type { CoppiceClient } from "../client";
import { attribute } from "../context/tags";
import type { Conversations } from "../conversations";
import { CoppiceError, ServerEndedError } from "../errors";
import type { PromptUpdate } from "../protocol.gen";
import type { ChatAccess } from "./feature";
import type { ChatPage } from "./page";
import { interruptedReply, textOf } from "./resending";
import { type Outgoing, PromptFailure, type Turns } from "./turns";

/** Sends what the user wrote or decided, and puts back what could not be sent. */
export class Sending {
  constructor(
    private readonly client: CoppiceClient,
    private readonly conversations: Conversations,
    private readonly approvals: Approvals,
    private readonly turns: Turns,
    private readonly access: Pick<ChatAccess, "post" | "putDraft"> & { showMade(page: ChatPage, conversationId: string): void },
  ) {}

  /** Sends a message in the conversation that the page shows, which the first one makes. */
  async send(page: ChatPage, text: string): Promise<void> {
    await this.run(page.shown.id ?? (await this.#make(page, text)), { text });
  }

  /** A call that is not waiting any more is made again by the model, which a message of the user's asks for. */
  async decide(page: ChatPage, id: string, decision: ApprovalDecision): Promise<void> {
    const asked = this.approvals.decide(id, decision);
    if (asked?.interrupted !== true || asked.conversationId !== page.shown.id) return;
    if (decision.kind !== "deny") {
      await this.send(page, `Your call of ${attribute(asked.tool)} was interrupted before I could approve it. I approve it: make the same call again.`);
    } else if (decision.message !== undefined) {
      await this.send(page, decision.message);
    }
  }

  /** Runs a turn. A message that was not stored goes back into the input; a reply that was cut off is kept. */
  async run(conversationId: string, outgoing: Outgoing): Promise<void> {
    try {
      await this.turns.run(conversationId, outgoing);
    } catch (error) {
      if (!(error instanceof PromptFailure)) throw error;
      if (!error.isStored) this.access.putDraft(conversationId, textOf(outgoing), { ifEmpty: true });
      else if (error.cause instanceof ServerEndedError) await this.#keep(conversationId, error.pieces);
      if (!error.isExplained) throw error.cause;
      const kind = error.cause instanceof CoppiceError ? error.cause.kind : undefined;
      this.access.post({ type: "turnFailed", conversationId, kind: kind === "auth" || kind === "not-found" ? kind : undefined });
    }
  }

  async #make(page: ChatPage, text: string): Promise<string> {
    try {
      const { id } = await this.conversations.make();
      // The turn need not wait until it is shown.
      this.access.showMade(page, id);
      return id;
    } catch (error) {
      this.access.putDraft("", text, { ifEmpty: true });
      throw error;
    }
  }

  /** Stores what had come of a reply when the server ended, as soon as the server runs again. */
  async #keep(conversationId: string, pieces: readonly PromptUpdate[]): Promise<void> {
    await this.client.request("coppice/append", { conversationId, entries: [interruptedReply(pieces)] });
  }
}
