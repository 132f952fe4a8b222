import type { CoppiceClient } from "./client";
import type { AttachedRange, Entry, Message } from "./protocol.gen";

/** One entry with its content. */
export async function entryOf(client: CoppiceClient, conversationId: string, entryId: string): Promise<Entry> {
  return (await messageOf(client, conversationId, entryId)).entry;
}

/** An entry, with the ranges of its texts that the user did not write. */
export async function messageOf(client: CoppiceClient, conversationId: string, entryId: string): Promise<{ entry: Entry; attached: AttachedRange[] }> {
  const { entries, attached } = await client.request("coppice/entries", {
    conversationId,
    leafId: entryId,
    backward: true,
    limit: 1,
  });
  const [entry] = entries;
  if (entry === undefined) throw new Error("The entry is not there any more.");
  return { entry, attached: attached?.[entryId] ?? [] };
}

/** The text of an entry. */
export function entryText(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messageText(entry.message);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "custom_message":
      return contentText(entry.content);
    case "label":
      return entry.label ?? "";
    case "session_info":
      return entry.name ?? "";
    case "file_activity":
      return entry.changes.map(({ kind, path }) => `${kind} ${path}`).join("\n");
    default:
      return "";
  }
}

function messageText(message: Message): string {
  if (message.role === "bashExecution") return `$ ${message.command}\n${message.output}`;
  if ("summary" in message) return message.summary;
  return contentText(message.content);
}

interface Block {
  type: string;
  text?: string;
  thinking?: string;
  name?: string;
  arguments?: Record<string, unknown>;
}

function contentText(content: string | Block[]): string {
  if (typeof content === "string") return content;
  return content.map(blockText).filter((text) => text !== "").join("\n\n");
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text ?? "";
    case "thinking":
      return block.thinking ?? "";
    case "toolCall":
      return `${block.name ?? ""}(${JSON.stringify(block.arguments ?? {})})`;
    default:
      return `[${block.type}]`;
  }
}
