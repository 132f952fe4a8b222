/** What a conversation shows: one item for each entry with content, a tool's result inside its call. */
import { changeOf, type FileChange } from "../../src/agent/file-change";
import { readAttachmentBlock } from "../../src/context/blocks";
import { counted, shortTokens } from "../../src/format";
import type {
  AssistantMessage,
  AttachedRange,
  CompactionEntry,
  EntriesResult,
  Entry,
  ImageContent,
  Message,
  TextContent,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "../../src/protocol.gen";
import { begun, type TurnFigures, withReply } from "./turn-figures";

/** What applications put into messages of the user, by the id of an entry, as the server says. */
export type Attached = NonNullable<EntriesResult["attached"]>;

export interface Attachment {
  title: string;
  text: string;
}

/** Characters: about a line of the chat. */
const LONGEST_TITLE = 80;

export interface Content {
  text: string;
  images: readonly ImageContent[];
  /** What was attached as text. */
  attachments?: readonly Attachment[];
}

export interface ToolResult extends Content {
  entryId: string;
  isError: boolean;
  /** The user refused the call. */
  isDenied?: true;
  /** The call ran without a question, since it only reads. */
  isReadOnly?: true;
  /** What the tool did to a file. */
  change?: FileChange;
}

/** `call` is absent while the page of the conversation that holds it has not been read. */
export interface ToolUse {
  kind: "tool";
  callId: string;
  name: string;
  call?: Pick<ToolCall, "arguments">;
  result?: ToolResult;
}

export type Block = { kind: "text"; text: string } | { kind: "thinking"; text: string } | ToolUse;

export interface AssistantItem {
  kind: "assistant";
  id: string;
  blocks: readonly Block[];
  stopReason?: AssistantMessage["stopReason"];
  error?: string;
  /** What its turn had taken when it came; absent where the turn's beginning has not been read. */
  turn?: TurnFigures;
}

export interface SummaryItem {
  kind: "compaction" | "branchSummary";
  id: string;
  summary: string;
  tokensBefore?: number;
  tokensAfter?: number;
  reason?: string;
  writer?: string;
  readFiles: readonly string[];
  modifiedFiles: readonly string[];
}

export interface BashItem {
  kind: "bash";
  id: string;
  command: string;
  output: string;
  /** `exit 1`, `cancelled`, `cut off`, `not sent to the model`. */
  remarks: readonly string[];
  failed: boolean;
}

export type Item =
  | ({ kind: "user"; id: string; turn?: TurnFigures } & Content)
  | AssistantItem
  | SummaryItem
  | BashItem
  | ({ kind: "custom"; id: string; customType: string } & Content)
  | { kind: "instruction"; id: string; role: "developer" | "system"; text: string }
  | { kind: "change" | "cleared"; id: string; text: string };

/** The last entry of an item: that of its last tool result, where it has any. */
export function endOf(item: Item): string {
  const results = item.kind === "assistant" ? item.blocks.flatMap((block) => (block.kind === "tool" && block.result ? [block.result.entryId] : [])) : [];
  return results.at(-1) ?? item.id;
}

/** The text of an item, as it is copied. */
export function textOf(item: Item): string {
  switch (item.kind) {
    case "assistant":
      return item.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n\n");
    case "compaction":
    case "branchSummary":
      return item.summary;
    case "bash":
      return `$ ${item.command}\n${item.output}`;
    default:
      return item.text;
  }
}

/** How many of the newest items may come twice: from the turn, and from the conversation that grew by it. */
const RECENT = 64;

/** `items` followed by those of the entries; what they hold already is not added again. */
export function withEntries(items: readonly Item[], entries: readonly Entry[], attached: Attached = {}): readonly Item[] {
  const grown = [...items];
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "toolResult") {
      addResult(grown, entry.id, entry.message);
    } else if (!grown.slice(-RECENT).some((item) => item.id === entry.id)) {
      const item = itemOf(entry, attached);
      if (item !== undefined) grown.push(withFigures(item, entry, grown));
    }
  }
  return grown;
}

function withFigures(item: Item, entry: Entry, before: readonly Item[]): Item {
  if (item.kind === "user") return { ...item, ...defined({ turn: begun(entry.timestamp) }) };
  if (item.kind !== "assistant" || entry.type !== "message" || entry.message.role !== "assistant") return item;
  const last = before.findLast((other) => other.kind === "user" || other.kind === "assistant");
  return last?.turn === undefined ? item : { ...item, turn: withReply(last.turn, entry.timestamp, entry.message.usage, entry.message.model ?? undefined) };
}

/** `items` with the entries in front of them; results that waited for their call are put into it. */
export function withEarlier(items: readonly Item[], entries: readonly Entry[], attached?: Attached): readonly Item[] {
  const earlier = [...withEntries([], entries, attached)];
  const rest: Item[] = [];
  for (const item of items) {
    const waiting = waitingResult(item);
    if (waiting === undefined || !attach(earlier, waiting)) rest.push(item);
  }
  return [...earlier, ...rest];
}

function addResult(items: Item[], entryId: string, message: ToolResultMessage): void {
  const result: ToolResult = { entryId, isError: message.isError === true, ...contentOf(message.content), ...defined({ change: changeOf(message.details), isDenied: marked(message.details, "denied"), isReadOnly: marked(message.details, "readOnly") }) };
  const use: ToolUse & { result: ToolResult } = {
    kind: "tool",
    callId: message.toolCallId,
    name: message.toolName,
    result,
  };
  if (!attach(items, use) && !items.slice(-RECENT).some((item) => item.id === entryId)) {
    items.push({ kind: "assistant", id: entryId, blocks: [use] });
  }
}

function attach(items: Item[], use: ToolUse & { result: ToolResult }): boolean {
  for (let at = items.length - 1; at >= Math.max(0, items.length - RECENT); at -= 1) {
    const item = items[at];
    if (item?.kind !== "assistant") continue;
    const index = item.blocks.findIndex((block) => block.kind === "tool" && block.call && block.callId === use.callId);
    if (index < 0) continue;
    items[at] = { ...item, blocks: item.blocks.with(index, { ...(item.blocks[index] as ToolUse), result: use.result }) };
    return true;
  }
  return false;
}

function waitingResult(item: Item): (ToolUse & { result: ToolResult }) | undefined {
  const only = item.kind === "assistant" && item.blocks.length === 1 ? item.blocks[0] : undefined;
  return only?.kind === "tool" && !only.call && only.result ? { ...only, result: only.result } : undefined;
}

function itemOf(entry: Entry, attached: Attached): Item | undefined {
  const { id } = entry;
  switch (entry.type) {
    case "message":
      return itemOfMessage(id, entry.message, attached[id]);
    case "compaction":
      return compactionItem(entry);
    case "branch_summary":
      return { kind: "branchSummary", id, summary: entry.summary, ...files(entry.details), ...writer(entry) };
    case "custom_message":
      return entry.display === false
        ? undefined
        : { kind: "custom", id, customType: entry.customType, ...contentOf(entry.content) };
    case "context_edit":
      // One that clears nothing shows again what another one cleared.
      if (entry.cleared.length === 0) return { kind: "change", id, text: "Cleared tool results are shown again" };
      return { kind: "cleared", id, text: `Cleared ${counted(entry.cleared.length, "old tool result")}: ${shortTokens(entry.saved.tokenizer)} tokens` };
    case "model_change":
      return { kind: "change", id, text: `Model: ${entry.modelId}` };
    case "thinking_level_change":
      return { kind: "change", id, text: `Thinking: ${entry.thinkingLevel}` };
    default:
      return undefined;
  }
}

function itemOfMessage(id: string, message: Message, attached?: readonly AttachedRange[]): Item | undefined {
  switch (message.role) {
    case "user":
      return { kind: "user", id, ...contentOf(message.content, attached) };
    case "assistant":
      return assistantItem(id, message);
    case "bashExecution":
      return {
        kind: "bash",
        id,
        command: message.command,
        output: message.output,
        failed: message.cancelled === true || (message.exitCode ?? 0) !== 0,
        remarks: [
          ...(message.cancelled ? ["cancelled"] : []),
          ...(message.exitCode ? [`exit ${message.exitCode}`] : []),
          ...(message.truncated ? ["cut off"] : []),
          ...(message.excludeFromContext ? ["not sent to the model"] : []),
        ],
      };
    case "developer":
    case "system":
      return { kind: "instruction", id, role: message.role, text: contentOf(message.content).text };
    case "custom":
      return message.display === false
        ? undefined
        : { kind: "custom", id, customType: message.customType, ...contentOf(message.content) };
    case "branchSummary":
      return { kind: "branchSummary", id, summary: message.summary, ...files(undefined) };
    case "compactionSummary":
      return { kind: "compaction", id, summary: message.summary, ...files(undefined), ...defined({ tokensBefore: message.tokensBefore }) };
    case "toolResult":
      return undefined;
  }
}

function assistantItem(id: string, message: AssistantMessage): AssistantItem {
  return {
    kind: "assistant",
    id,
    blocks: message.content.map(blockOf),
    ...defined({ stopReason: message.stopReason, error: message.errorMessage }),
  };
}

function blockOf(content: AssistantMessage["content"][number]): Block {
  switch (content.type) {
    case "text":
      return { kind: "text", text: content.text };
    case "thinking":
      return { kind: "thinking", text: content.thinking };
    case "toolCall":
      return { kind: "tool", callId: content.id, name: content.name, call: { arguments: content.arguments } };
  }
}

function compactionItem(entry: CompactionEntry): SummaryItem {
  return {
    kind: "compaction",
    id: entry.id,
    summary: entry.summary,
    ...files(entry.details),
    ...writer(entry),
    ...defined({ tokensBefore: entry.tokensBefore, tokensAfter: entry.tokensAfter, reason: entry.reason }),
  };
}

function writer(entry: { details?: unknown; fromHook?: boolean | null; model?: string | null }): { writer?: string } {
  const named = property(entry.details, "summarizer");
  const name = entry.fromHook ? "an extension" : typeof named === "string" ? named : entry.model;
  return defined({ writer: name });
}

function files(details: unknown): Pick<SummaryItem, "readFiles" | "modifiedFiles"> {
  return { readFiles: paths(property(details, "readFiles")), modifiedFiles: paths(property(details, "modifiedFiles")) };
}

function paths(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((path) => typeof path === "string") : [];
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function marked(details: unknown, name: string): true | undefined {
  return property(details, name) === true ? true : undefined;
}

/** `attached`: the parts of the content's texts that are none of the user's, in their order. */
function contentOf(content: string | readonly (UserContent | TextContent)[], attached: readonly AttachedRange[] = []): Content {
  if (typeof content === "string" && attached.length === 0) return { text: content, images: [] };
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const own: string[] = [];
  const attachments: Attachment[] = [];
  let next = 0;
  for (const [block, { text }] of parts.filter((part) => part.type === "text").entries()) {
    const whole = readAttachmentBlock(text);
    const rest: string[] = [];
    let place = 0;
    for (let range = attached[next]; range?.block === block; range = attached[(next += 1)]) {
      rest.push(text.slice(place, range.start));
      if (whole === undefined) attachments.push(attachmentOf(text.slice(range.start, range.end)));
      place = range.end;
    }
    if (whole !== undefined) attachments.push(whole);
    else if (place === 0) own.push(text);
    else own.push(withoutBreaksAround([...rest, text.slice(place)].join("")));
  }
  return {
    text: own.filter((text) => text !== "").join("\n"),
    images: parts.filter((part) => part.type === "image"),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

/** Without the line breaks that set attachments apart; empty where nothing but space is left. */
function withoutBreaksAround(text: string): string {
  if (text.trim() === "") return "";
  let [start, end] = [0, text.length];
  while (text[start] === "\n") start += 1;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(start, end);
}

/** What an application put into a message, by its first line. */
function attachmentOf(text: string): Attachment {
  const [first = ""] = text.trimStart().split("\n", 1);
  return readAttachmentBlock(text) ?? { title: first.slice(0, LONGEST_TITLE).replace(/^<|>.*$/g, ""), text };
}

type Defined<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** The properties that have a value. */
function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)) as Defined<T>;
}
