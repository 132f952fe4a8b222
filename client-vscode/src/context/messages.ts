/** The messages between page and host about the next message: what is attached to it, what waits to be sent. */
import * as v from "valibot";

import { attachment, type Suggestion } from "./attachment";

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(500));

/** Commands that are typed after a `/`; what each does is shown to the user. */
export const SLASH_COMMANDS = {
  compact: "Summarize older messages; what follows is what the summary must not lose",
  fork: "Copy this conversation into a new one",
  note: "Add a note that every conversation of the workspace shows to its model",
  model: "Choose the model that answers",
  clear: "Begin a new conversation",
  rename: "Name this conversation; the name follows",
  context: "Show what the model sees",
  tools: "Choose further tools of VS Code",
} as const;

export type SlashCommand = keyof typeof SLASH_COMMANDS;

export const composerFromPage = [
  /** Asks for what can be attached, for what is typed after `@`. */
  v.object({ type: v.literal("complete"), request: v.number(), query: v.pipe(v.string(), v.maxLength(500)) }),
  v.object({ type: v.literal("attach"), attachment }),
  /** Files that were dropped from the editor. */
  v.object({ type: v.literal("attachUris"), uris: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4000))), v.maxLength(100)) }),
  v.object({ type: v.literal("detach"), at: v.pipe(v.number(), v.integer(), v.minValue(0)) }),
  /** A message that waits for the end of the turn: `now` stops the turn for it. */
  v.object({ type: v.literal("queued"), id, action: v.picklist(["edit", "remove", "now"]) }),
  v.object({
    type: v.literal("slash"),
    command: v.picklist(Object.keys(SLASH_COMMANDS) as SlashCommand[]),
    argument: v.pipe(v.string(), v.maxLength(20_000)),
  }),
] as const;

const suggestion = v.custom<Suggestion>((value) => typeof value === "object" && value !== null);

const queued = v.object({ id, text: v.string(), attached: v.number() });

export const composerToPage = [
  v.object({ type: v.literal("completions"), request: v.number(), items: v.array(suggestion) }),
  /** What is attached to the next message; the empty id is that of a conversation which does not exist yet. */
  v.object({ type: v.literal("attachments"), conversationId: v.string(), attachments: v.array(attachment) }),
  /** The file that the editor shows, which can be attached. */
  v.object({ type: v.literal("openFile"), path: v.optional(v.string()) }),
  v.object({ type: v.literal("queue"), conversationId: id, messages: v.array(queued) }),
] as const;

export type QueuedMessage = v.InferOutput<typeof queued>;
