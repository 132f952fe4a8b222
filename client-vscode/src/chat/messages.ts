/**
 * The messages between the Chat view's page and the extension's host. The page shows text that strangers
 * wrote, so the host believes nothing of it that these schemas do not allow; neither side throws on what it
 * does not know.
 */
import * as v from "valibot";

import type { ListedCommand } from "../agent/listed-command";
import type { Verdicts } from "../agent/review";
import { type PendingApproval, reach } from "../approvals/approval";
import { composerFromPage, composerToPage } from "../context/messages";
import { mode, modes, workMode } from "../modes/mode";
import type { Conversation, EntriesResult, Entry, LossReport, OutlineResult, PromptUpdate, UsageState } from "../protocol.gen";
import { prices } from "./prices";

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const text = v.pipe(v.string(), v.maxLength(4_000_000));

/** Commands that the page may run, without arguments. */
export const PAGE_COMMANDS = [
  "coppice.setUpModel",
  "coppice.pickModel",
  "coppice.setApiKey",
  "coppice.installServer",
  "coppice.cancelInstallation",
  "coppice.chooseServer",
  "coppice.restartServer",
  "coppice.showLog",
  "coppice.importConversation",
  "workbench.trust.manage",
  "coppice.editPermissions",
  "coppice.showApproval",
] as const;

/** `above`: pixels that the item of an entry is above the upper edge. */
const place = v.object({ entry: v.string(), above: v.number() });
/** The id of a conversation, or nothing for the one that the first message will make. */
const draftKey = v.pipe(v.string(), v.maxLength(500));

/** What outlives the page: by conversation, what was typed and not sent, and where its reader had scrolled up to. */
const memory = v.object({
  drafts: v.record(v.string(), text),
  places: v.record(v.string(), place),
});

const fromPage = v.variant("type", [
  /** The page is there and shows nothing yet. */
  v.object({ type: v.literal("ready") }),
  v.object({ type: v.literal("send"), text: v.pipe(text, v.minLength(1)) }),
  /** Stops whatever runs for the shown conversation. */
  v.object({ type: v.literal("stop") }),
  /** Has the turn that waits for its provider ask it now. */
  v.object({ type: v.literal("askNow") }),
  /** Goes on with the turn at the end of the conversation, which was broken off. */
  v.object({ type: v.literal("resume") }),
  v.object({ type: v.literal("compact") }),
  v.object({ type: v.literal("undoCompaction"), entryId: id }),
  /** Sends a message of the user's again on a branch of its own, with another `text` where there is one. */
  v.object({ type: v.literal("resend"), entryId: id, text: v.optional(v.pipe(text, v.minLength(1))) }),
  v.object({ type: v.literal("showEarlier"), before: id }),
  /** Asks for the tokens by kind. */
  v.object({ type: v.literal("showUsage") }),
  v.object({ type: v.literal("listConversations") }),
  v.object({ type: v.literal("open"), conversationId: id }),
  v.object({ type: v.literal("newConversation") }),
  /** The input of a conversation holds this text, to be kept. An empty id is the one that the first message will make. */
  v.object({ type: v.literal("draft"), conversationId: draftKey, text }),
  /** The reader has scrolled to `place`; without one to the end. `key` is the conversation, and the branch that is looked at. */
  v.object({ type: v.literal("place"), key: v.pipe(v.string(), v.maxLength(1001)), place: v.optional(place) }),
  /** The page has got the focus, or lost it. */
  v.object({ type: v.picklist(["focused", "blurred"]) }),
  /** A link or a path in a message; the host decides whether it may be followed. */
  v.object({ type: v.literal("openLink"), href: v.pipe(v.string(), v.maxLength(8000)) }),
  v.object({ type: v.literal("copy"), text }),
  v.object({ type: v.literal("run"), command: v.picklist(PAGE_COMMANDS) }),
  /** Answers an approval that waits. */
  v.object({
    type: v.literal("decide"),
    id,
    decision: v.variant("kind", [
      v.object({ kind: v.literal("allow") }),
      v.object({ kind: v.literal("allowConversation") }),
      v.object({ kind: v.literal("allowRule"), reach }),
      v.object({ kind: v.literal("allowPlan"), mode: workMode }),
      v.object({ kind: v.literal("deny"), message: v.optional(v.pipe(v.string(), v.maxLength(20_000))) }),
    ]),
  }),
  /** Opens a plan that waits for approval as a document. */
  v.object({ type: v.literal("openPlan"), id }),
  /** Opens an edit that waits for approval next to its file, to be changed. */
  v.object({ type: v.literal("openEdit"), id }),
  /** Has the turn go on while a command runs, or ends the command. */
  v.object({ type: v.literal("command"), id, action: v.picklist(["leave", "end"]) }),
  /** How far the model may go in the shown conversation from now on. */
  v.object({ type: v.literal("setMode"), mode }),
  /** Keeps an edit of a model, undoes it, or opens it in the editor's view of differences. */
  v.object({ type: v.literal("reviewEdit"), entryId: id, toolCallId: id, action: v.picklist(["keep", "undo", "open"]) }),
  /** Keeps or undoes all changes of the turn that began with this message, or opens them as differences. */
  v.object({ type: v.literal("reviewTurn"), entryId: id, action: v.picklist(["keep", "undo", "review"]) }),
  ...composerFromPage,
  /** Answers the offer of this id; `always`: also each later one. */
  v.object({ type: v.literal("answerFiles"), id, choice: v.picklist(["both", "conversation", "files", "finish", "undo", "leave", "cancel"]), always: v.boolean() }),
  /** Restores the files as they were at a message. */
  v.object({ type: v.literal("restoreFiles"), entryId: id }),
  /** Takes code of a message into an editor: at the cursor, or where the user says. */
  v.object({ type: v.literal("applyCode"), text, language: v.pipe(v.string(), v.maxLength(100)), action: v.picklist(["insert", "apply"]) }),
  /** Marks a message, makes a conversation of the path to it, or goes back to it. */
  v.object({ type: v.literal("onMessage"), entryId: id, action: v.picklist(["pin", "unpin", "label", "fork", "goTo"]) }),
  /** Goes to the end of the branch that begins with an entry. */
  v.object({ type: v.literal("showAlternative"), entryId: id }),
  /** Shows an entry, named by its id or by the id's first characters: on the path, or else on a branch of its own. */
  v.object({ type: v.literal("showEntry"), entryId: id }),
  /** Goes to the branch that is looked at, or leaves it. */
  v.object({ type: v.literal("endPreview"), action: v.picklist(["goTo", "close"]) }),
  /** Has the model of the last `modelOffer` answer from now on. */
  v.object({ type: v.literal("takeModel") }),
]);

const entry = v.custom<Entry>(
  (value) => typeof value === "object" && value !== null && "id" in value && "type" in value,
);
const object = <T>() => v.custom<T>((value) => typeof value === "object" && value !== null);
const page = { entries: v.array(entry), attached: v.optional(object<NonNullable<EntriesResult["attached"]>>()) };

/** Long work for the shown conversation: `percentage` from 0 to 100 where it is known. */
const work = v.object({
  title: v.string(),
  stage: v.optional(v.string()),
  percentage: v.optional(v.number()),
  cancellable: v.boolean(),
});

/** A summary that is written before its compaction is due. */
const backgroundStatus = v.picklist(["writing", "ready"]);

/**
 * The files that differ where a conversation is about to go; `more` are not named. `added` and `removed` are lines.
 * `unfinished`: the window ended while it changed files; `unanswered`: before it was answered what is asked here. Of
 * these no file is named.
 */
const filesOffer = v.object({
  id,
  kind: v.picklist(["branch", "restore", "unfinished", "unanswered"]),
  files: v.array(v.object({
    path: v.string(),
    fate: v.picklist(["written", "deleted", "merged", "conflict"]),
    added: v.optional(v.number()),
    removed: v.optional(v.number()),
    /** The file can make programs run, or instructs agents. */
    isControl: v.boolean(),
  })),
  more: v.number(),
  /** What was asked last where the answers to an unfinished change lead, if the conversation moves. */
  ends: v.optional(v.object({ finish: v.string(), undo: v.string() })),
});

/** The files that a turn has changed, by the message that began it; `more` are not named. `added` and `removed` are lines. */
const turnFiles = v.object({
  entryId: id,
  files: v.array(v.object({ path: v.string(), added: v.optional(v.number()), removed: v.optional(v.number()) })),
  more: v.number(),
});

const toPage = v.variant("type", [
  v.object({
    type: v.literal("server"),
    /** `absent`: there is no program to run; `canInstall` says whether the extension brings one. */
    state: v.picklist(["absent", "installing", "starting", "running", "failed", "stopped"]),
    message: v.optional(v.string()),
    canInstall: v.optional(v.boolean()),
  }),
  /** Which model answers where none of `models` was chosen; `problem` says why none can. */
  v.object({
    type: v.literal("model"),
    name: v.optional(v.string()),
    problem: v.optional(v.string()),
    models: v.optional(v.array(v.object({ id: v.string(), name: v.optional(v.string()), prices: v.optional(prices) }))),
  }),
  /** What a conversation that the first message makes begins with. */
  v.object({ type: v.literal("nextModel"), model: v.optional(v.string()), thinkingLevel: v.optional(v.string()) }),
  /** What the page asked to be remembered, before anything is shown. */
  v.object({ type: v.literal("memory"), memory }),
  v.object({ type: v.literal("conversations"), conversations: v.array(object<Conversation>()) }),
  /** Shows a conversation from its last page on; null: the first message will make one. */
  v.object({
    type: v.literal("shown"),
    conversation: v.nullable(object<Conversation>()),
    /** The first message, sent from this page, has made it. */
    isMade: v.optional(v.boolean()),
    ...page,
    nextBefore: v.optional(id),
    usage: v.optional(object<UsageState>()),
    running: v.boolean(),
    /** The turn runs in another window or program. */
    elsewhere: v.optional(v.boolean()),
    work: v.optional(work),
    background: v.optional(backgroundStatus),
    outline: v.optional(object<OutlineResult>()),
    /** The path is that of a branch that is only looked at; `leafId` is its end. */
    preview: v.optional(v.object({ leafId: id })),
  }),
  /** What is shown around the messages has changed. */
  v.object({ type: v.literal("outline"), conversationId: id, outline: object<OutlineResult>() }),
  /** The shown conversation has another name now. */
  v.object({ type: v.literal("renamed"), conversation: object<Conversation>() }),
  v.object({ type: v.literal("earlier"), conversationId: id, ...page, nextBefore: v.optional(id) }),
  /** The path has grown by these. */
  v.object({ type: v.literal("grown"), conversationId: id, ...page }),
  /** `at`: when it came. */
  v.object({ type: v.literal("update"), conversationId: id, update: object<PromptUpdate>(), at: v.optional(v.string()) }),
  v.object({ type: v.literal("turn"), conversationId: id, running: v.boolean(), elsewhere: v.optional(v.boolean()) }),
  v.object({ type: v.literal("work"), conversationId: id, work: v.optional(work) }),
  v.object({ type: v.literal("background"), conversationId: id, status: v.optional(backgroundStatus) }),
  v.object({ type: v.literal("usage"), conversationId: id, usage: object<UsageState>() }),
  /** Every approval that waits, of any conversation. */
  v.object({ type: v.literal("approvals"), approvals: v.array(object<PendingApproval>()) }),
  v.object({ type: v.literal("modes"), modes }),
  /** The commands of this window that run. */
  v.object({ type: v.literal("commands"), commands: v.array(object<ListedCommand>()) }),
  /** The conversations whose turn runs. */
  v.object({ type: v.literal("running"), conversationIds: v.array(id) }),
  /** Answers the first question that is in the page. */
  v.object({ type: v.literal("answerApproval"), decision: v.picklist(["allow", "deny"]) }),
  /** What became of the edits of models, by the id of the tool call. */
  v.object({ type: v.literal("edits"), verdicts: object<Verdicts>() }),
  ...composerToPage,
  /** Asks what becomes of the files; without an offer nothing is asked any more. */
  v.object({ type: v.literal("filesOffer"), conversationId: id, offer: v.optional(filesOffer) }),
  /** What the newest turn of a conversation has changed and nobody has decided about; without `turn` nothing. */
  v.object({ type: v.literal("turnFiles"), conversationId: id, turn: v.optional(turnFiles) }),
  /** What only the answer to a compaction holds; it is not stored. */
  v.object({
    type: v.literal("compacted"),
    entryId: id,
    warnings: v.array(v.string()),
    report: object<LossReport>(),
  }),
  v.object({
    type: v.literal("notice"),
    level: v.picklist(["info", "warning", "error"]),
    text: v.string(),
    action: v.optional(v.object({ label: v.string(), command: v.picklist(PAGE_COMMANDS) })),
  }),
  /** The model of VS Code that could answer where none is set; without a name there is none. */
  v.object({ type: v.literal("modelOffer"), name: v.optional(v.string()) }),
  /** The input of a conversation, shown or not, holds this text. */
  v.object({ type: v.literal("draft"), conversationId: draftKey, text }),
  /** A turn ended with an error that its last reply shows; `kind` says which, as far as a button can help. */
  v.object({ type: v.literal("turnFailed"), conversationId: id, kind: v.optional(v.picklist(["auth", "not-found"])) }),
  v.object({ type: v.literal("focus") }),
  /** Scrolls to an entry of a conversation, once that is shown, and highlights it. */
  v.object({ type: v.literal("reveal"), conversationId: id, entryId: id }),
  /** `restricted`: the workspace is not trusted. */
  v.object({ type: v.literal("preferences"), enterSends: v.boolean(), restricted: v.optional(v.boolean()), prices: v.optional(prices) }),
]);

export type FromPage = v.InferOutput<typeof fromPage>;
export type ToPage = v.InferOutput<typeof toPage>;
export type Memory = v.InferOutput<typeof memory>;
export type FilesOffer = v.InferOutput<typeof filesOffer>;
export type TurnFiles = v.InferOutput<typeof turnFiles>;
export type BackgroundStatus = v.InferOutput<typeof backgroundStatus>;
export type Work = v.InferOutput<typeof work>;
export type PageCommand = (typeof PAGE_COMMANDS)[number];

/** What the page sent, or nothing when it is no message of ours. */
export function fromPageMessage(value: unknown): FromPage | undefined {
  const parsed = v.safeParse(fromPage, value);
  return parsed.success ? parsed.output : undefined;
}

/** What the host sent, or nothing when it is no message of ours. */
export function toPageMessage(value: unknown): ToPage | undefined {
  const parsed = v.safeParse(toPage, value);
  return parsed.success ? parsed.output : undefined;
}

/** What was remembered, or nothing when it is no memory of ours. */
export function memoryOf(value: unknown): Memory {
  const parsed = v.safeParse(memory, value);
  return parsed.success ? parsed.output : { drafts: {}, places: {} };
}
