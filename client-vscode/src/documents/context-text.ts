import { counted, shortTokens } from "../format";
import type { ContextResult, Tool } from "../protocol.gen";

const RULE = "─".repeat(12);

interface Sent {
  role?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
}

/** What a turn gives a model besides the conversation. */
export interface Given {
  /** The system prompt, with the instructions of the checkout. */
  system: string;
  tools: readonly Tool[];
}

/**
 * What a model sees, to be read as plain text: what it is given with each request, and each message word for word below
 * the name of its speaker.
 */
export function contextText({ messages, tokens }: Pick<ContextResult, "messages" | "tokens">, { system, tools }: Given): string {
  const sent = Array.isArray(messages) ? messages.filter(isObject).map(messageText) : [];
  const offered = tools.length === 0 ? [] : [headed(counted(tools.length, "tool"), tools.map(toolText).join("\n\n"))];
  const size = `${counted(sent.length, "message")}, ${shortTokens(tokens)} tokens`;
  return [size, headed("system prompt", system), ...offered, ...sent].join("\n\n").concat("\n");
}

function toolText({ name, description, inputSchema }: Tool): string {
  const lines = [name, description, inputSchema && JSON.stringify(inputSchema)];
  return lines.filter((line) => line !== undefined && line !== "").join("\n");
}

function messageText({ role, content, tool_calls: calls }: Sent): string {
  const text = textOf(content);
  const called = Array.isArray(calls) ? calls.filter(isObject).map(callText) : [];
  return headed(typeof role === "string" ? role : "message", [text, ...called].filter((part) => part !== "").join("\n\n"));
}

function headed(role: string, text: string): string {
  return `${RULE} ${role} ${RULE}\n${text}`;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map((part) => (typeof part["text"] === "string" ? part["text"] : `[${String(part["type"])}]`)).join("\n");
}

function callText(call: Record<string, unknown>): string {
  const made = isObject(call["function"]) ? call["function"] : call;
  const given = made["arguments"];
  return `→ ${String(made["name"])}(${typeof given === "string" ? given : JSON.stringify(given)})`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
