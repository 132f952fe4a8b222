/**
 * What the Chat view's page and the extension's host say to each other. The page shows text that strangers
 * wrote, so the host believes nothing of it that these schemas do not allow; neither side throws on what it
 * does not know.
 */
import * as v from "valibot";

import type { Conversation, Entry, LossReport, PromptUpdate, UsageState } from "../protocol.gen";

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const text = v.pipe(v.string(), v.maxLength(4_000_000));

/** Commands of the extension that the page may run, without arguments. */
export const PAGE_COMMANDS = [
  "coppice.setUpModel",
  "coppice.restartServer",
  "coppice.showLog",
  "coppice.importConversation",
] as const;

/** What outlives the page: by conversation, what was typed and not sent, and where its reader had scrolled up to. */
const memory = v.object({
  drafts: v.record(v.string(), text),
  /** Pixels that the item of an entry stands above the upper edge. */
  places: v.record(v.string(), v.object({ entry: v.string(), above: v.number() })),
});

const fromPage = v.variant("type", [
  /** The page is there and shows nothing yet. */
  v.object({ type: v.literal("ready") }),
  v.object({ type: v.literal("send"), text: v.pipe(text, v.minLength(1)) }),
  /** Stops whatever runs for the shown conversation. */
  v.object({ type: v.literal("stop") }),
  v.object({ type: v.literal("compact") }),
  v.object({ type: v.literal("undoCompaction"), entryId: id }),
  /** Goes back to before a message of the user's; its text comes back as `input`. */
  v.object({ type: v.literal("edit"), entryId: id }),
  v.object({ type: v.literal("showEarlier"), before: id }),
  /** Asks for the tokens by kind. */
  v.object({ type: v.literal("showUsage") }),
  v.object({ type: v.literal("listConversations") }),
  v.object({ type: v.literal("open"), conversationId: id }),
  v.object({ type: v.literal("newConversation") }),
  v.object({ type: v.literal("remember"), memory }),
  /** A link or a path in a message; the host decides whether it may be followed. */
  v.object({ type: v.literal("openLink"), href: v.pipe(v.string(), v.maxLength(8000)) }),
  v.object({ type: v.literal("copy"), text }),
  v.object({ type: v.literal("run"), command: v.picklist(PAGE_COMMANDS) }),
  /** Has the model of the last `modelOffer` answer from now on. */
  v.object({ type: v.literal("takeModel") }),
]);

const entry = v.custom<Entry>(
  (value) => typeof value === "object" && value !== null && "id" in value && "type" in value,
);
const entries = v.array(entry);
const object = <T>() => v.custom<T>((value) => typeof value === "object" && value !== null);

/** Long work for the shown conversation: `percentage` from 0 to 100 where it is known. */
const work = v.object({
  title: v.string(),
  stage: v.optional(v.string()),
  percentage: v.optional(v.number()),
  cancellable: v.boolean(),
});

const toPage = v.variant("type", [
  v.object({
    type: v.literal("server"),
    state: v.picklist(["starting", "running", "stopped"]),
    message: v.optional(v.string()),
  }),
  /** What the page asked to be remembered, before anything is shown. */
  v.object({ type: v.literal("memory"), memory }),
  v.object({ type: v.literal("conversations"), conversations: v.array(object<Conversation>()) }),
  /** Shows a conversation from its last page on; null: the first message will make one. */
  v.object({
    type: v.literal("shown"),
    conversation: v.nullable(object<Conversation>()),
    entries,
    nextBefore: v.optional(id),
    usage: v.optional(object<UsageState>()),
    running: v.boolean(),
    work: v.optional(work),
  }),
  /** The shown conversation has another name now. */
  v.object({ type: v.literal("renamed"), conversation: object<Conversation>() }),
  v.object({ type: v.literal("earlier"), conversationId: id, entries, nextBefore: v.optional(id) }),
  /** The path has grown by these. */
  v.object({ type: v.literal("grown"), conversationId: id, entries }),
  v.object({ type: v.literal("update"), conversationId: id, update: object<PromptUpdate>() }),
  v.object({ type: v.literal("turn"), conversationId: id, running: v.boolean() }),
  v.object({ type: v.literal("work"), conversationId: id, work: v.optional(work) }),
  v.object({ type: v.literal("usage"), conversationId: id, usage: object<UsageState>() }),
  /** What only the answer to a compaction tells; it is not stored. */
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
  /** Puts text into the input; with `ifEmpty` only where the user has not begun another. */
  v.object({ type: v.literal("input"), text, ifEmpty: v.optional(v.boolean()) }),
  v.object({ type: v.literal("focus") }),
  v.object({ type: v.literal("preferences"), enterSends: v.boolean() }),
]);

export type FromPage = v.InferOutput<typeof fromPage>;
export type ToPage = v.InferOutput<typeof toPage>;
export type Memory = v.InferOutput<typeof memory>;
export type Work = v.InferOutput<typeof work>;
export type PageCommand = (typeof PAGE_COMMANDS)[number];

/** What the page said, or nothing when it is no message of ours. */
export function fromPageMessage(value: unknown): FromPage | undefined {
  const parsed = v.safeParse(fromPage, value);
  return parsed.success ? parsed.output : undefined;
}

/** What the host said, or nothing when it is no message of ours. */
export function toPageMessage(value: unknown): ToPage | undefined {
  const parsed = v.safeParse(toPage, value);
  return parsed.success ? parsed.output : undefined;
}

/** What was remembered, or nothing when it is no memory of ours. */
export function memoryOf(value: unknown): Memory {
  const parsed = v.safeParse(memory, value);
  return parsed.success ? parsed.output : { drafts: {}, places: {} };
}
