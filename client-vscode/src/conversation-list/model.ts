import { ago, counted, oneLine } from "../format";
import type { Conversation } from "../protocol.gen";

/** What a conversation is called: by its user, or else by the first request. */
export function title({ name, firstMessage }: Conversation): string {
  return oneLine(name ?? firstMessage ?? "", 80) || "New conversation";
}

/** Whether a conversation is worth a row: one that nobody wrote into or named is not. */
export function isBegun({ name, entryCount }: Conversation): boolean {
  return name !== undefined || entryCount > 0;
}

const AGENTS: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  copilot: "Copilot CLI",
  gemini: "Gemini CLI",
  hermes: "Hermes",
  openclaw: "OpenClaw",
  opencode: "opencode",
  pi: "Pi",
  qwen: "Qwen Code",
};

/** The agent whose session a conversation was. */
export function agent({ source }: Conversation): string | undefined {
  return source === undefined ? undefined : AGENTS[source.format];
}

/** `Codex · shop · 2 hours ago · 12 entries`, the folder only where the window has several. */
export function description(conversation: Conversation, folders: readonly { name: string; uri: string }[], now: number): string {
  const { modifiedAt, workspaceUri, entryCount } = conversation;
  const folder = folders.length > 1 ? folders.find(({ uri }) => uri === workspaceUri)?.name : undefined;
  return [agent(conversation), folder, ago(modifiedAt, now), counted(entryCount, "entry", "entries")].filter((part) => part !== undefined).join(" · ");
}

/** What is lost when a conversation is deleted. */
export function loss({ entryCount, createdAt, modifiedAt }: Conversation, branches: number): string {
  const day = (timestamp: string): string => new Date(timestamp).toLocaleDateString("en", { dateStyle: "medium" });
  const from = day(createdAt);
  const to = day(modifiedAt);
  const when = from === to ? `of ${from}` : `from ${from} to ${to}`;
  const where = branches > 1 ? `, on ${counted(branches, "branch", "branches")},` : "";
  return `Its ${counted(entryCount, "entry", "entries")}${where} ${when} are deleted from this machine: messages, summaries, labels and replies of models. This cannot be undone. Files of the workspace and forks of it stay. Export it first to keep a copy.`;
}
