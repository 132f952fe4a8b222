import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { CoppiceError } from "../errors";
import type { Conversation, ListResult } from "../protocol.gen";
import type { WorkspaceSnapshots } from "../snapshots/workspace";
import type { Feature } from "./feature";

const PAGE = 1000;
/** Milliseconds after the first chat of a window. A guess: the window rests by then. */
const LOOK_MS = 60_000;
/** Milliseconds that a conversation has to be missing: its store may be away for a while, or another one be set. A guess. */
const MISSING_MS = 30 * 24 * 3600 * 1000;
const KEY = "coppice.missingConversations";

/** Forgets the recorded states of conversations that were deleted while no window was open. */
export class DeletedStates implements Feature {
  #looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly client: Pick<CoppiceClient, "request">,
    private readonly snapshots: Pick<WorkspaceSnapshots, "conversations" | "forget" | "share" | "warn">,
    private readonly memory: Pick<vscode.Memento, "get" | "update">,
  ) {}

  greet(): void {
    this.#looking ??= setTimeout(() => void this.look(), LOOK_MS).unref();
  }

  handle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /**
   * Notes which conversations are missing, and forgets those that were at each look for long enough. Their forks get what
   * they have. Nothing is forgotten where one cannot be asked for, all are missing, or a fork of an unknown one has no states.
   */
  async look(now = Date.now()): Promise<void> {
    try {
      const recorded = new Set(await this.snapshots.conversations());
      const listed = await this.#listed();
      const before = this.memory.get<Record<string, number>>(KEY, {});
      const missing: Record<string, number> = {};
      for (const id of recorded) if (!listed.has(id) && (await this.#isMissing(id))) missing[id] = before[id] ?? now;
      await this.memory.update(KEY, missing);
      const deleted = new Set(Object.keys(missing).filter((id) => now - (missing[id] ?? now) >= MISSING_MS));
      if (deleted.size === 0 || Object.keys(missing).length === recorded.size) return;
      if (await this.#shareWithForks(listed, recorded, deleted)) await this.snapshots.forget(...deleted);
    } catch (error) {
      this.snapshots.warn(`Whether there are states of deleted conversations is not known. ${String(error)}`);
    }
  }

  /** Not by `coppice/conversation/get`, which makes the conversation the one that file events belong to. */
  async #isMissing(conversationId: string): Promise<boolean> {
    try {
      await this.client.request("coppice/usage", { conversationId });
      return false;
    } catch (error) {
      if (error instanceof CoppiceError && error.code === "unknown-conversation") return true;
      throw error;
    }
  }

  /** Gives forks, also forks of forks, what the deleted ones have. False where that could not be done. */
  async #shareWithForks(conversations: ReadonlyMap<string, Conversation>, recorded: ReadonlySet<string>, deleted: ReadonlySet<string>): Promise<boolean> {
    for (const { id, parentConversationId } of conversations.values()) {
      const seen = new Set([id]);
      for (let original = parentConversationId; original !== undefined && !seen.has(original); original = conversations.get(original)?.parentConversationId) {
        if (deleted.has(original) && !(await this.snapshots.share(id, original))) return false;
        if (!conversations.has(original) && !recorded.has(original) && !recorded.has(id)) return false;
        seen.add(original);
      }
    }
    return true;
  }

  /** Every conversation. What changes while the pages are read comes to the first one, which is therefore read again. */
  async #listed(): Promise<Map<string, Conversation>> {
    const conversations: Conversation[] = [];
    let cursor: string | null = null;
    do {
      const page: ListResult = await this.client.request("coppice/conversation/list", { limit: PAGE, cursor });
      conversations.push(...page.conversations);
      cursor = page.nextCursor ?? null;
    } while (cursor !== null);
    const again = await this.client.request("coppice/conversation/list", { limit: PAGE });
    return new Map([...conversations, ...again.conversations].map((each) => [each.id, each]));
  }
}
