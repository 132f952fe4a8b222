import type { FromPage, ToPage } from "./messages";
import type { ChatPage } from "./page";
import type { EndedTurn, Outgoing } from "./turns";

/** A part of the chat with messages of its own. */
export interface Feature {
  /** Whether the message was one of this feature's. `conversationId` is the conversation that `page`, which sent it, shows. */
  handle(message: FromPage, conversationId: string | undefined, page: PageAccess): Promise<boolean>;
  /** The first message has made this conversation. */
  made?(conversationId: string): void;
  /** Sends a new page the state that it shows. */
  greet(post: (message: ToPage) => void): void;
}

/** What features may ask of a page. */
export type PageAccess = Pick<ChatPage, "shown" | "post">;

/** What features may ask of the chats. */
export interface ChatAccess {
  /** Posts to all pages. */
  post(message: ToPage): void;
  /**
   * Puts text into the input of a conversation, whether or not it is shown; with `ifEmpty` only where nothing is written
   * there, with `afterOther` after what is. An empty id is the one that the first message will make.
   */
  putDraft(conversationId: string, text: string, options?: { ifEmpty?: boolean; afterOther?: boolean }): void;
  isRunning(conversationId: string): boolean;
  /** Runs a turn; what goes wrong is shown. */
  run(conversationId: string, outgoing: Outgoing): void;
  stop(conversationId: string): Promise<void>;
  onTurnEnd(listener: (turn: EndedTurn) => void): void;
  /** Resolves when no turn of the conversation runs. */
  whenIdle(conversationId: string): Promise<void>;
}
