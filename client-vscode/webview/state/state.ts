/** All that the page shows, and how messages of the host change it. */
import type { PendingApproval } from "../../src/approvals/approval";
import type { ListedCommand } from "../../src/agent/listed-command";
import type { Verdicts } from "../../src/agent/review";
import { type Annotations, annotationsOf } from "../../src/chat/outline";
import type { BackgroundStatus, FilesOffer, ToPage, TurnFiles, Work } from "../../src/chat/messages";
import type { Prices } from "../../src/chat/prices";
import type { ModesByConversation } from "../../src/modes/mode";
import type { Conversation, Entry, OutlineResult, PromptUpdate, UsageState } from "../../src/protocol.gen";
import { type ComposerMessage, type ComposerState, NO_COMPOSER, reduceComposer } from "../composer/state";
import { type Draft, withPiece } from "./draft";
import { type Attached, type Item, withEarlier, withEntries } from "./items";
import { type Successors, withSuccessors } from "./successors";

type HostMessage<T extends ToPage["type"]> = Extract<ToPage, { type: T }>;

export type Notice = HostMessage<"notice"> & { id: number };

/** A conversation, from some page on to its end. */
export interface Shown {
  /** null: the first message will make one. */
  conversation: Conversation | null;
  items: readonly Item[];
  successors: Successors;
  nextBefore: string | undefined;
  draft: Draft;
  running: boolean;
  /** The turn runs in another window or program. */
  elsewhere: boolean;
  work: Work | undefined;
  /** The summary of the next compaction. */
  background: BackgroundStatus | undefined;
  /** The provider fails for the moment; it is asked again at `until`, in milliseconds. */
  wait?: { attempt: number; until: number; message: string } | undefined;
  usage: UsageState | undefined;
  outline: OutlineResult | undefined;
  /** By entry. */
  annotations: Annotations;
  /** The branch is only looked at. */
  preview: { leafId: string } | undefined;
  /** The last turn failed, and its last reply says why. */
  failure?: HostMessage<"turnFailed"> | undefined;
}

export interface PanelState {
  server: HostMessage<"server">;
  conversations: readonly Conversation[];
  /** Undefined until the host has sent a conversation. */
  shown?: Shown;
  notices: readonly Notice[];
  /** The entry that a search led to. */
  revealed?: HostMessage<"reveal"> | undefined;
  /** Undefined until the host has sent it. */
  model?: HostMessage<"model"> | undefined;
  /** What a conversation that the first message makes begins with. */
  nextModel: Pick<HostMessage<"nextModel">, "model" | "thinkingLevel">;
  /** The name of the model of VS Code that could answer where none is set. */
  offeredModel?: string | undefined;
  /** Of every conversation. */
  approvals: readonly PendingApproval[];
  /** The commands of the window that run. */
  commands: readonly ListedCommand[];
  /** The conversations whose turn runs. */
  running: readonly string[];
  /** By conversation, what is asked about the files. */
  filesOffers: Readonly<Record<string, FilesOffer | undefined>>;
  /** By conversation, what its newest turn has changed. */
  turnFiles: Readonly<Record<string, TurnFiles | undefined>>;
  /** By the compaction's entry. */
  reports: Readonly<Record<string, HostMessage<"compacted">>>;
  /** By conversation; those that ask are left out. */
  modes: ModesByConversation;
  enterSends: boolean;
  /** The workspace is not trusted. */
  restricted: boolean;
  /** Undefined where the user has set none. */
  prices?: Prices | undefined;
  composer: ComposerState;
  /** What became of the edits of models, by the id of the tool call. */
  verdicts: Verdicts;
}

export const INITIAL: PanelState = {
  server: { type: "server", state: "starting" },
  conversations: [],
  notices: [],
  approvals: [],
  running: [],
  commands: [],
  filesOffers: {},
  turnFiles: {},
  reports: {},
  modes: {},
  nextModel: {},
  enterSends: true,
  restricted: false,
  composer: NO_COMPOSER,
  verdicts: {},
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
    case "model":
      return { ...state, model: action, notices: action.problem === undefined ? state.notices.filter((notice) => notice.action?.command !== "coppice.setUpModel") : state.notices };
    case "nextModel":
      return { ...state, nextModel: action };
    case "modelOffer":
      return { ...state, offeredModel: action.name };
    case "approvals":
      return { ...state, approvals: action.approvals };
    case "filesOffer":
      return { ...state, filesOffers: { ...state.filesOffers, [action.conversationId]: action.offer } };
    case "turnFiles":
      return { ...state, turnFiles: { ...state.turnFiles, [action.conversationId]: action.turn } };
    case "commands":
      return { ...state, commands: action.commands };
    case "running":
      return { ...state, running: action.conversationIds };
    case "modes":
      return { ...state, modes: action.modes };
    case "edits":
      return { ...state, verdicts: action.verdicts };
    case "attachments":
    case "queue":
    case "completions":
    case "openFile":
      return { ...state, composer: reduceComposer(state.composer, action) };
    case "preferences":
      return { ...state, enterSends: action.enterSends, restricted: action.restricted ?? false, prices: action.prices };
    case "reveal":
      return { ...state, revealed: action };
    case "memory":
    case "draft":
    case "focus":
    case "answerApproval":
      return state;
    case "renamed":
      return withShown(state, action.conversation.id, (shown) => ({ ...shown, conversation: action.conversation }));
    case "turn": {
      const hasBegun = action.running && state.shown?.conversation?.id === action.conversationId && !state.shown.running;
      const after = withShown(state, action.conversationId, (shown) => reduceShown(shown, action));
      return hasBegun ? { ...after, notices: [] } : after;
    }
    default:
      return withShown(state, action.conversationId, (shown) => reduceShown(shown, action));
  }
}

function opened({ conversation, entries, attached, nextBefore, running, elsewhere = false, work, background, usage, outline, preview }: HostMessage<"shown">): Shown {
  const items = withEntries([], entries, attached);
  return { conversation, items, successors: withSuccessors(new Map(), items, entries), nextBefore, draft: [], running, elsewhere, work, background, usage, outline, annotations: annotationsOf(outline), preview };
}

/** Whether a conversation is shown anew, or has just been made of the first message. */
function isSame(shown: Shown | undefined, conversation: Conversation | null): boolean {
  return shown !== undefined && (shown.conversation === null || shown.conversation.id === conversation?.id);
}

type OfConversation = Exclude<Extract<ToPage, { conversationId: string }>, ComposerMessage | { type: "draft" | "filesOffer" | "reveal" | "turnFiles" }>;

function withShown(state: PanelState, id: string, change: (shown: Shown) => Shown): PanelState {
  const { shown } = state;
  return shown?.conversation?.id === id ? { ...state, shown: change(shown) } : state;
}

function reduceShown(shown: Shown, action: OfConversation): Shown {
  switch (action.type) {
    case "earlier":
      return { ...withItems(shown, withEarlier(shown.items, action.entries, action.attached), action.entries), nextBefore: action.nextBefore };
    case "outline":
      return { ...shown, outline: action.outline, annotations: annotationsOf(action.outline, shown.annotations) };
    case "grown":
      return grown(shown, action.entries, action.attached);
    case "update":
      return reduceUpdate({ ...shown, wait: undefined }, action.update, action.at);
    case "turn":
      return { ...shown, running: action.running, elsewhere: action.elsewhere ?? false, draft: action.running ? shown.draft : [], failure: action.running ? undefined : shown.failure, wait: undefined };
    case "turnFailed":
      return { ...shown, failure: action };
    case "work":
      return { ...shown, work: action.work };
    case "background":
      return { ...shown, background: action.status };
    case "usage":
      return { ...shown, usage: action.usage };
  }
}

function reduceUpdate(shown: Shown, update: PromptUpdate, timestamp = ""): Shown {
  switch (update.kind) {
    case "text":
    case "thinking":
    case "toolCall":
      return { ...shown, draft: withPiece(shown.draft, update) };
    case "message": {
      const { entryId: id, message } = update;
      return grown(shown, [{ type: "message", id, parentId: null, timestamp, message }]);
    }
    case "retry":
      return { ...shown, draft: [] };
    case "wait":
      return { ...shown, draft: [], wait: { attempt: update.attempt, until: Date.now() + update.seconds * 1000, message: update.message } };
    default:
      return shown;
  }
}

function grown(shown: Shown, entries: readonly Entry[], attached?: Attached): Shown {
  const replied = entries.some((entry) => entry.type === "message" && entry.message.role === "assistant");
  return { ...withItems(shown, withEntries(shown.items, entries, attached), entries), draft: replied ? [] : shown.draft };
}

function withItems(shown: Shown, items: readonly Item[], entries: readonly Entry[]): Shown {
  return { ...shown, items, successors: withSuccessors(shown.successors, items, entries) };
}
