import { randomUUID } from "node:crypto";

import type { Attachment } from "../context/attachment";
import type { ChatAccess, Feature } from "./feature";
import type { FromPage, ToPage } from "./messages";

interface Waiting {
  id: string;
  text: string;
  attachments: readonly Attachment[];
  /** It is sent even if the turn before it was stopped. */
  now: boolean;
}

/** Where messages take their attachments from. */
export interface AttachmentBox {
  take(conversationId: string): readonly Attachment[];
  restore(conversationId: string, attachments: readonly Attachment[]): void;
}

/** Messages that were sent while a turn runs. They follow it one by one; after a turn that failed they wait for a person. */
export class MessageQueue implements Feature {
  readonly #chat: ChatAccess;
  readonly #box: AttachmentBox;
  readonly #waiting = new Map<string, readonly Waiting[]>();

  constructor(chat: ChatAccess, box: AttachmentBox) {
    this.#chat = chat;
    this.#box = box;
    chat.onTurnEnd(({ conversationId, isDone }) => { this.#next(conversationId, isDone); });
  }

  greet(post: (message: ToPage) => void): void {
    for (const conversationId of this.#waiting.keys()) post(this.#queueOf(conversationId));
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (conversationId === undefined) return false;
    if (message.type === "send" && this.#chat.isRunning(conversationId)) {
      const attachments = this.#box.take(conversationId);
      this.#put(conversationId, [...this.#of(conversationId), { id: randomUUID(), text: message.text, attachments, now: false }]);
      return true;
    }
    if (message.type !== "queued") return false;
    const chosen = this.#of(conversationId).find(({ id }) => id === message.id);
    if (chosen === undefined) return true;
    const others = this.#of(conversationId).filter((each) => each !== chosen);
    if (message.action === "now") {
      this.#put(conversationId, [{ ...chosen, now: true }, ...others]);
      if (this.#chat.isRunning(conversationId)) await this.#chat.stop(conversationId);
      else this.#next(conversationId, true);
      return true;
    }
    this.#put(conversationId, others);
    if (message.action === "edit") {
      this.#box.restore(conversationId, chosen.attachments);
      this.#chat.putDraft(conversationId, chosen.text);
    }
    return true;
  }

  #of(conversationId: string): readonly Waiting[] {
    return this.#waiting.get(conversationId) ?? [];
  }

  #put(conversationId: string, waiting: readonly Waiting[]): void {
    if (waiting.length === 0) this.#waiting.delete(conversationId);
    else this.#waiting.set(conversationId, waiting);
    this.#chat.post(this.#queueOf(conversationId));
  }

  #queueOf(conversationId: string): ToPage {
    const messages = this.#of(conversationId).map(({ id, text, attachments }) => ({ id, text, attached: attachments.length }));
    return { type: "queue", conversationId, messages };
  }

  #next(conversationId: string, isDone: boolean): void {
    const [first, ...others] = this.#of(conversationId);
    if (first === undefined || !(isDone || first.now)) return;
    this.#put(conversationId, others);
    this.#chat.run(conversationId, { text: first.text, attachments: first.attachments });
  }
}
