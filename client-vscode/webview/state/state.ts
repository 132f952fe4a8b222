/** All that the page shows, and how it changes by what the host says. */
import type { ToPage, Work } from "../../src/chat/messages";
import type { Conversation, Entry, PromptUpdate, UsageState } from "../../src/protocol.gen";
import { type Draft, withPiece } from "./draft";
import { type Item, withEarlier, withEntries } from "./items";

type Told<T extends ToPage["type"]> = Extract<ToPage, { type: T }>;

export type Notice = Told<"notice"> & { id: number };

/** A conversation, from some page on to its end. */
export interface Shown {
  /** null: the first message will make one. */
  conversation: Conversation | null;
  items: readonly Item[];
  nextBefore: string | undefined;
  draft: Draft;
  running: boolean;
  work: Work | undefined;
  usage: UsageState | undefined;
}

export interface PanelState {
  server: Told<"server">;
  conversations: readonly Conversation[];
  /** Undefined until the host has told what to show. */
  shown?: Shown;
  notices: readonly Notice[];
  /** The name of the model of VS Code that could answer where none is set. */
  offeredModel?: string | undefined;
  /** By the compaction's entry. */
  reports: Readonly<Record<string, Told<"compacted">>>;
  enterSends: boolean;
}

export const INITIAL: PanelState = {
  server: { type: "server", state: "starting" },
  conversations: [],
  notices: [],
  reports: {},
  enterSends: true,
};

export type Action = ToPage | { type: "dismiss"; id: number };

const MOST_NOTICES = 3;

export function reduce(state: PanelState, action: Action): PanelState {
  switch (action.type) {
    case "server":
      return { ...state, server: action };
    case "conversations":
      return { ...state, conversations: action.conversations };
    case "shown":
      return { ...state, notices: isSame(state.shown, action.conversation) ? state.notices : [], shown: opened(action) };
    case "compacted":
      return { ...state, reports: { ...state.reports, [action.entryId]: action } };
    case "notice": {
      const id = (state.notices.at(-1)?.id ?? 0) + 1;
      const others = state.notices.filter((other) => other.text !== action.text);
      return { ...state, notices: [...others, { ...action, id }].slice(-MOST_NOTICES) };
    }
    case "dismiss":
      return { ...state, notices: state.notices.filter((notice) => notice.id !== action.id) };
    case "modelOffer":
      return { ...state, offeredModel: action.name };
    case "preferences":
      return { ...state, enterSends: action.enterSends };
    case "memory":
    case "input":
    case "focus":
      return state;
    case "renamed":
      return withShown(state, action.conversation.id, (shown) => ({ ...shown, conversation: action.conversation }));
    default:
      return withShown(state, action.conversationId, (shown) => reduceShown(shown, action));
  }
}

function opened({ conversation, entries, nextBefore, running, work, usage }: Told<"shown">): Shown {
  return { conversation, items: withEntries([], entries), nextBefore, draft: [], running, work, usage };
}

/** Whether a conversation is shown anew, or has just been made of the first message. */
function isSame(shown: Shown | undefined, conversation: Conversation | null): boolean {
  return shown !== undefined && (shown.conversation === null || shown.conversation.id === conversation?.id);
}

type OfConversation = Extract<ToPage, { conversationId: string }>;

function withShown(state: PanelState, id: string, change: (shown: Shown) => Shown): PanelState {
  const { shown } = state;
  return shown?.conversation?.id === id ? { ...state, shown: change(shown) } : state;
}

function reduceShown(shown: Shown, action: OfConversation): Shown {
  switch (action.type) {
    case "earlier":
      return { ...shown, nextBefore: action.nextBefore, items: withEarlier(shown.items, action.entries) };
    case "grown":
      return grown(shown, action.entries);
    case "update":
      return reduceUpdate(shown, action.update);
    case "turn":
      return { ...shown, running: action.running, draft: action.running ? shown.draft : [] };
    case "work":
      return { ...shown, work: action.work };
    case "usage":
      return { ...shown, usage: action.usage };
  }
}

function reduceUpdate(shown: Shown, update: PromptUpdate): Shown {
  switch (update.kind) {
    case "text":
    case "thinking":
    case "toolCall":
      return { ...shown, draft: withPiece(shown.draft, update) };
    case "message": {
      const { entryId: id, message } = update;
      return grown(shown, [{ type: "message", id, parentId: null, timestamp: "", message }]);
    }
    case "retry":
      return { ...shown, draft: [] };
    default:
      return shown;
  }
}

function grown(shown: Shown, entries: readonly Entry[]): Shown {
  const replied = entries.some((entry) => entry.type === "message" && entry.message.role === "assistant");
  return { ...shown, items: withEntries(shown.items, entries), draft: replied ? [] : shown.draft };
}
