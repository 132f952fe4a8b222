import type { Message } from "../protocol.gen";

/** One side's words. VS Code's models know two sides, and nothing but text goes through `coppice/sample`. */
export interface Turn {
  role: "user" | "assistant";
  text: string;
}

interface Block {
  type: string;
  text?: string;
  name?: string;
  arguments?: Record<string, unknown>;
}

/** The messages as two sides that take turns; the system prompt comes first, as the user's words. */
export function turns(messages: Message[], system?: string): Turn[] {
  const said: Turn[] = system === undefined || system === "" ? [] : [{ role: "user", text: system }];
  for (const message of messages) {
    const text = textOf(message).trim();
    if (text === "") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = said.at(-1);
    if (last?.role === role) last.text += `\n\n${text}`;
    else said.push({ role, text });
  }
  return said;
}

function textOf(message: Message): string {
  switch (message.role) {
    case "toolResult":
      return `[Result of ${message.toolName}]\n${blocksText(message.content)}`;
    case "bashExecution":
      return `$ ${message.command}\n${message.output}`;
    case "branchSummary":
    case "compactionSummary":
      return message.summary;
    default:
      return blocksText(message.content);
  }
}

/** Thinking is left out: it is no part of what was said. */
function blocksText(content: string | Block[]): string {
  if (typeof content === "string") return content;
  return content.map(blockText).filter((text) => text !== "").join("\n\n");
}

function blockText({ type, text, name, arguments: given }: Block): string {
  switch (type) {
    case "text":
      return text ?? "";
    case "toolCall":
      return `[Called ${name ?? ""} with ${JSON.stringify(given ?? {})}]`;
    case "image":
      return "[An image]";
    default:
      return "";
  }
}
