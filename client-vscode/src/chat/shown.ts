import type { CoppiceClient } from "../client";
import { CoppiceError } from "../errors";
import type { Conversation, EntriesResult, OutlineResult } from "../protocol.gen";
import type { ToPage } from "./messages";
import type { Turns } from "./turns";
import type { Works } from "./works";

const PAGE = 100;
const MOST_A_READ = 1000;

/** A branch that is looked at without going to it. `leafId` is its end. */
export interface Preview {
  conversationId: string;
  leafId: string;
  /** The entry that was looked for. */
  entryId: string;
}

/** Keeps the page showing one conversation as it is in the store. */
export class ShownConversation {
  #id: string | undefined;
  #lastEntryId: string | undefined;
  #conversation: Conversation | undefined;
  #outline: OutlineResult | undefined;
  #preview: Preview | undefined;
  /** The entries that the page was given, and what comes before them. */
  #given = new Set<string>();
  #nextBefore: string | undefined;
  /** Counts what was shown, so that an answer that comes late is dropped. */
  #showing = 0;
  #reading: Promise<void> = Promise.resolve();
  #due = false;
  #isOpen = false;

  constructor(
    private readonly client: CoppiceClient,
    private readonly turns: Turns,
    private readonly works: Works,
    private readonly post: (message: ToPage) => void,
    conversationId?: string,
  ) {
    this.#id = conversationId;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** Whether the page was sent what to show. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get preview(): Preview | undefined {
    return this.#preview;
  }

  labelOf(entryId: string): string | undefined {
    return this.#outline?.marks.find((mark) => mark.entryId === entryId)?.label;
  }

  /** A new page shows nothing yet. */
  close(): void {
    this.#isOpen = false;
  }

  /**
   * Shows a conversation from its last page on: its current path, or the branch of it that is looked at. `isMade`: the
   * first message, sent from this page, has made it.
   */
  async show(id: string | undefined, isMade = false): Promise<void> {
    const showing = ++this.#showing;
    this.#id = id;
    this.#lastEntryId = undefined;
    this.#conversation = undefined;
    if (this.#preview?.conversationId !== id) this.#preview = undefined;
    if (id === undefined) {
      this.#isOpen = true;
      this.post({ type: "shown", conversation: null, entries: [], running: false });
      return;
    }
    const about = { conversationId: id };
    const [{ conversation, usage, turn }, { entries, attached, nextBefore }, outline] = await Promise.all([
      this.client.request("coppice/conversation/get", about),
      this.client.request("coppice/entries", { ...this.#path(id), backward: true, limit: PAGE }),
      this.client.request("coppice/outline", this.#path(id)),
    ]);
    if (showing !== this.#showing) return;
    this.#isOpen = true;
    this.#conversation = conversation;
    this.#outline = outline;
    this.#lastEntryId = entries.at(-1)?.id;
    this.#given = new Set(entries.map((entry) => entry.id));
    this.#nextBefore = nextBefore;
    this.turns.noteElsewhere(id, turn === "elsewhere");
    const running = this.turns.isRunning(id);
    const elsewhere = this.turns.isElsewhere(id);
    const preview = this.#preview === undefined ? undefined : { leafId: this.#preview.leafId };
    this.post({ type: "shown", conversation, isMade, entries, attached, nextBefore, usage, running, elsewhere, work: this.works.of(id), background: this.works.backgroundOf(id), outline, preview });
    if (preview === undefined) for (const update of this.turns.pieces(id)) this.post({ type: "update", conversationId: id, update });
  }

  /** Shows the branch that an entry is on, up to where it was left last, without going there. */
  async look(conversationId: string, entryId: string): Promise<void> {
    const [{ leafId }, { conversation }] = await Promise.all([
      this.client.request("coppice/branchEnd", { conversationId, entryId }),
      this.client.request("coppice/conversation/get", { conversationId }),
    ]);
    this.#preview = leafId === conversation.leafId ? undefined : { conversationId, leafId, entryId };
    await this.show(conversationId);
    await this.reveal(entryId);
  }

  /** Forgets the branch that is looked at; what is shown next is the current path. */
  endPreview(): void {
    this.#preview = undefined;
  }

  /** Has the page scroll to an entry of the path that is shown, which is read up to there. */
  async reveal(entryId: string): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    while (!this.#given.has(entryId) && this.#nextBefore !== undefined && this.#id === id) {
      await this.showEarlier(this.#nextBefore, MOST_A_READ);
    }
    this.post({ type: "reveal", conversationId: id, entryId });
  }

  async showEarlier(before: string, limit = PAGE): Promise<void> {
    const id = this.#id;
    const showing = this.#showing;
    if (id === undefined) return;
    const { entries, attached, nextBefore } = await this.client.request("coppice/entries", { ...this.#path(id), backward: true, before, limit });
    if (showing !== this.#showing || before !== this.#nextBefore) return;
    this.#nextBefore = nextBefore;
    for (const entry of entries) this.#given.add(entry.id);
    this.post({ type: "earlier", conversationId: id, entries, attached, nextBefore });
  }

  /** With `spent` the whole path is read for what its requests took. */
  async showUsage(spent: boolean): Promise<void> {
    if (this.#id === undefined) return;
    const usage = await this.client.request("coppice/usage", { conversationId: this.#id, detail: true, spent });
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

  #path(conversationId: string): { conversationId: string; leafId?: string } {
    return this.#preview === undefined ? { conversationId } : { conversationId, leafId: this.#preview.leafId };
  }

  async #follow(): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    if (this.#preview === undefined && (this.#lastEntryId === undefined || !(await this.#grow(id, this.#lastEntryId)))) {
      await this.show(id);
      return;
    }
    await this.#showOutline(id);
    if (this.#conversation?.name === undefined && this.#conversation?.firstMessage === undefined) await this.rename();
  }

  /** Reads what has come after an entry; false when the entry is not on the path any more. */
  async #grow(id: string, from: string): Promise<boolean> {
    let after: string | undefined = from;
    while (after !== undefined && this.#id === id) {
      try {
        const page: EntriesResult = await this.client.request("coppice/entries", { conversationId: id, after, limit: MOST_A_READ });
        if (this.#id !== id) return true;
        this.#lastEntryId = page.entries.at(-1)?.id ?? this.#lastEntryId;
        for (const entry of page.entries) this.#given.add(entry.id);
        if (page.entries.length > 0) this.post({ type: "grown", conversationId: id, entries: page.entries, attached: page.attached });
        after = page.nextAfter;
      } catch (error) {
        if (error instanceof CoppiceError && error.code === "unknown-entry") return false;
        throw error;
      }
    }
    return true;
  }

  async #showOutline(id: string): Promise<void> {
    const showing = this.#showing;
    const outline = await this.client.request("coppice/outline", this.#path(id));
    if (showing !== this.#showing || JSON.stringify(outline) === JSON.stringify(this.#outline)) return;
    this.#outline = outline;
    this.post({ type: "outline", conversationId: id, outline });
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
