/** What the composer shows with the text: what is attached, what waits, what can be completed. */
import type { ToPage } from "../../src/chat/messages";
import type { Attachment, Suggestion } from "../../src/context/attachment";
import type { QueuedMessage } from "../../src/context/messages";

export interface ComposerState {
  /** By conversation; the empty id is that of one which does not exist yet. */
  attachments: Readonly<Record<string, readonly Attachment[]>>;
  queues: Readonly<Record<string, readonly QueuedMessage[]>>;
  /** The answer to the newest question that has one. */
  completions: { request: number; items: readonly Suggestion[] };
  /** The file that the editor shows. */
  openFile: string | undefined;
}

export const NO_COMPOSER: ComposerState = { attachments: {}, queues: {}, completions: { request: 0, items: [] }, openFile: undefined };

export type ComposerMessage = Extract<ToPage, { type: "attachments" | "queue" | "completions" | "openFile" }>;

export function reduceComposer(state: ComposerState, action: ComposerMessage): ComposerState {
  switch (action.type) {
    case "attachments":
      return { ...state, attachments: { ...state.attachments, [action.conversationId]: action.attachments } };
    case "queue":
      return { ...state, queues: { ...state.queues, [action.conversationId]: action.messages } };
    case "completions":
      return action.request < state.completions.request ? state : { ...state, completions: action };
    case "openFile":
      return { ...state, openFile: action.path };
  }
}
