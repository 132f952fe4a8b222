import type { Attachment } from "../context/attachment";
import type { FromPage, ToPage } from "./messages";
import type { ShownConversation } from "./shown";
import type { EndedTurn } from "./turns";

/** A part of the chat with messages of its own. */
export interface Feature {
  /** Whether the message was one of this feature's. `conversationId` is the shown conversation. */
  handle(message: FromPage, conversationId: string | undefined): Promise<boolean>;
  /** Sends a new page the state that it shows. */
  greet(post: (message: ToPage) => void): void;
}

/** What features may ask of the chat. */
export interface ChatAccess {
  post(message: ToPage): void;
  isRunning(conversationId: string): boolean;
  /** Runs a turn; what goes wrong is shown. */
  run(conversationId: string, text: string, attachments: readonly Attachment[]): void;
  stop(conversationId: string): Promise<void>;
  onTurnEnd(listener: (turn: EndedTurn) => void): void;
  /** Resolves when no turn of the conversation runs. */
  whenIdle(conversationId: string): Promise<void>;
}

/** The same, and what the page shows. */
export interface ConversationAccess extends ChatAccess {
  readonly shown: ShownConversation;
}
