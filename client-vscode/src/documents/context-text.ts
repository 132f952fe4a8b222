import { counted, shortTokens } from "../format";
import type { ContextResult } from "../protocol.gen";

const RULE = "─".repeat(12);

interface Sent {
  role?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
}

/** What a model sees, to be read as plain text: each message word for word below the name of its speaker. */
export function contextText({ messages, system, tokens }: Pick<ContextResult, "messages" | "system" | "tokens">): string {
  const sent = Array.isArray(messages) ? messages.filter(isObject) : [];
  const parts = [...(system === undefined ? [] : [headed("system", system)]), ...sent.map(messageText)];
  return [`${counted(parts.length, "message")}, ${shortTokens(tokens)} tokens`, ...parts].join("\n\n").concat("\n");
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
