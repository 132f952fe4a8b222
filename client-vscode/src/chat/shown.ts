import type { CoppiceClient } from "../client";
import { CoppiceError } from "../errors";
import type { Conversation, EntriesResult } from "../protocol.gen";
import type { ToPage } from "./messages";
import type { Turns } from "./turns";
import type { Works } from "./works";

const PAGE = 100;
const MOST_A_READ = 1000;

/** Keeps the page showing one conversation as it is in the store. */
export class ShownConversation {
  #id: string | undefined;
  #lastEntryId: string | undefined;
  #conversation: Conversation | undefined;
  #reading: Promise<void> = Promise.resolve();
  #due = false;

  constructor(
    private readonly client: CoppiceClient,
    private readonly turns: Turns,
    private readonly works: Works,
    private readonly post: (message: ToPage) => void,
  ) {}

  get id(): string | undefined {
    return this.#id;
  }

  /** Shows a conversation from its last page on. */
  async show(id: string | undefined): Promise<void> {
    this.#id = id;
    this.#lastEntryId = undefined;
    this.#conversation = undefined;
    if (id === undefined) {
      this.post({ type: "shown", conversation: null, entries: [], running: false });
      return;
    }
    const about = { conversationId: id };
    const [{ conversation, usage }, { entries, nextBefore }] = await Promise.all([
      this.client.request("coppice/conversation/get", about),
      this.client.request("coppice/entries", { ...about, backward: true, limit: PAGE }),
    ]);
    if (this.#id !== id) return;
    this.#conversation = conversation;
    this.#lastEntryId = entries.at(-1)?.id;
    const running = this.turns.isRunning(id);
    this.post({ type: "shown", conversation, entries, nextBefore, usage, running, work: this.works.of(id) });
    for (const update of this.turns.pieces(id)) this.post({ type: "update", conversationId: id, update });
  }

  async showEarlier(before: string): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    const params = { conversationId: id, backward: true, before, limit: PAGE };
    const { entries, nextBefore } = await this.client.request("coppice/entries", params);
    this.post({ type: "earlier", conversationId: id, entries, nextBefore });
  }

  async showUsage(): Promise<void> {
    if (this.#id === undefined) return;
    const usage = await this.client.request("coppice/usage", { conversationId: this.#id, detail: true });
    this.post({ type: "usage", conversationId: this.#id, usage });
  }

  /** Brings the page up to date, one reading after the other; what is asked for meanwhile is read once. */
  refresh(): Promise<void> {
    if (!this.#due) {
      this.#due = true;
      this.#reading = this.#reading.catch(() => undefined).then(() => {
        this.#due = false;
        return this.#follow();
      });
    }
    return this.#reading;
  }

  async #follow(): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    if (this.#lastEntryId === undefined || !(await this.#grow(id, this.#lastEntryId))) {
      await this.show(id);
    } else if (this.#conversation?.name === undefined && this.#conversation?.firstMessage === undefined) {
      await this.rename();
    }
  }

  /** Reads what has come behind an entry; false when the entry is not on the path any more. */
  async #grow(id: string, from: string): Promise<boolean> {
    let after: string | undefined = from;
    while (after !== undefined && this.#id === id) {
      try {
        const page: EntriesResult = await this.client.request("coppice/entries", { conversationId: id, after, limit: MOST_A_READ });
        if (this.#id !== id) return true;
        this.#lastEntryId = page.entries.at(-1)?.id ?? this.#lastEntryId;
        if (page.entries.length > 0) this.post({ type: "grown", conversationId: id, entries: page.entries });
        after = page.nextAfter;
      } catch (error) {
        if (error instanceof CoppiceError && error.code === "unknown-entry") return false;
        throw error;
      }
    }
    return true;
  }

  async rename(): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    const { conversation } = await this.client.request("coppice/conversation/get", { conversationId: id });
    if (this.#id !== id) return;
    this.#conversation = conversation;
    this.post({ type: "renamed", conversation });
  }
}
