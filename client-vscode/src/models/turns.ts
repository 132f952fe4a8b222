import { attribute, tagged } from "../context/tags";
import type { Message } from "../protocol.gen";

export type Part =
  | { type: "text"; text: string }
  | { type: "toolCall"; id: string; name: string; arguments: Record<string, unknown> }
  | { type: "toolResult"; toolCallId: string; text: string };

/** One side's words. VS Code's models know two sides. */
export interface Turn {
  role: "user" | "assistant";
  parts: Part[];
}

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  arguments?: Record<string, unknown>;
}

/**
 * The messages as two sides that take turns; the system prompt comes first, as the user's words. `withTools` keeps tool
 * calls and their results as such; to a model that is offered no tools they are described in words.
 */
export function turns(messages: Message[], system: string | undefined, withTools: boolean): Turn[] {
  const grouped: Turn[] = [];
  const add = (role: Turn["role"], parts: Part[]) => {
    const last = grouped.at(-1);
    const there = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
    if (there.length === 0) return;
    if (last?.role === role) last.parts.push(...there);
    else grouped.push({ role, parts: there });
  };
  add("user", words(system ?? ""));
  for (const message of messages) {
    add(message.role === "assistant" ? "assistant" : "user", partsOf(message, withTools));
  }
  return grouped;
}

function partsOf(message: Message, withTools: boolean): Part[] {
  switch (message.role) {
    case "toolResult": {
      const text = textOf(message.content);
      return withTools
        ? [{ type: "toolResult", toolCallId: message.toolCallId, text }]
        : words(tagged("tool-result", ` tool="${attribute(message.toolName)}"`, text));
    }
    case "bashExecution":
      return words(tagged("terminal", "", `$ ${message.command}\n${message.output}`));
    case "branchSummary":
    case "compactionSummary":
      return words(tagged("summary", "", message.summary));
    default:
      return typeof message.content === "string"
        ? words(message.content)
        : message.content.flatMap((block) => partsOfBlock(block, withTools));
  }
}

/** Thinking is left out: it is no part of the answer. */
function partsOfBlock({ type, text = "", id = "", name = "", arguments: given = {} }: Block, withTools: boolean): Part[] {
  if (type === "text") return words(text);
  if (type === "image") return words("[An image]");
  if (type !== "toolCall") return [];
  return withTools
    ? [{ type: "toolCall", id, name, arguments: given }]
    : words(`[Called ${attribute(name)} with ${JSON.stringify(given)}]`);
}

function textOf(content: Block[]): string {
  return content.map(({ type, text }) => text ?? `[${type}]`).join("\n\n");
}

function words(text: string): Part[] {
  return [{ type: "text", text }];
}
