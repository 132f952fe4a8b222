/**
 * What Coppice offers to other extensions. Copy this file and `src/protocol.gen.ts` together into yours, and name
 * `coppice.coppice` among its `extensionDependencies`:
 *
 *     const coppice = await vscode.extensions.getExtension<CoppiceApi>("coppice.coppice")?.activate();
 *
 * The first call starts the server. A call that the server cannot do rejects with an Error whose `message` is a sentence
 * for people and whose `code` says which case it is (`ErrorCode`); one that was cancelled rejects with
 * `vscode.CancellationError`.
 */
import type { CancellationToken, Event, Uri } from "vscode";

import type {
  AppendResult,
  CompactionEnded,
  CompactResult,
  ContextResult,
  Conversation,
  ConversationChanged,
  NavigateResult,
  NewEntry,
} from "./src/protocol.gen";

export interface CoppiceApi {
  /** Goes up when something that was there is no more. */
  readonly version: 1;

  /** The conversation that the window shows, if any. */
  readonly active: string | undefined;

  /** Makes a conversation of `folder`, by default the first workspace folder. The window goes on showing its own. */
  create(options?: { name?: string; folder?: Uri }): Promise<Conversation>;

  /**
   * Adds entries as descendants of `parentId`, by default the leaf: all of them, or none. They are on disk before the
   * promise is fulfilled. An entry with an `id` may be sent again. With `expectedLeafId` the call is refused (`stale-leaf`) when the
   * leaf is another by now.
   */
  append(
    conversationId: string,
    entries: NewEntry[],
    options?: { parentId?: string | null; expectedLeafId?: string | null },
  ): Promise<AppendResult>;

  /** What a model sees of the conversation, ready to be sent: the shape of `messages` follows `format`. */
  context(
    conversationId: string,
    options?: { format?: "entries" | "openai" | "anthropic" | "text"; leafId?: string },
  ): Promise<ContextResult>;

  /** Compacts. `instructions` say what the summary must not lose. Tokens before and after are in the result. */
  compact(
    conversationId: string,
    options?: { instructions?: string; token?: CancellationToken },
  ): Promise<CompactResult>;

  /** Goes to another entry; with `summarize` a summary of the branch that is left is added to the one that is entered. Nobody is asked. */
  navigate(
    conversationId: string,
    targetId: string,
    options?: { summarize?: boolean; instructions?: string; token?: CancellationToken },
  ): Promise<NavigateResult>;

  /** Whoever made the change, another window included. */
  readonly onDidChangeConversation: Event<ConversationChanged>;

  /** A compaction has ended, completed or not: see `status`. */
  readonly onDidCompact: Event<CompactionEnded>;
}
