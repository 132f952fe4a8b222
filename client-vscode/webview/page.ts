/** What VS Code gives the page: a way to the host, and a little memory that outlives the page. */
import type { FromPage } from "../src/chat/messages";

interface Host {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();

export function post(message: FromPage): void {
  host.postMessage(message);
}

interface Memory {
  /** What was typed and not sent, by conversation. */
  drafts: Record<string, string>;
  /** Distance from the end in pixels, of conversations that were scrolled up. */
  scrolled: Record<string, number>;
}

const MOST = 50;

export const memory: Memory = remembered(host.getState());

export function remember(change: (memory: Memory) => void): void {
  change(memory);
  memory.drafts = newest(memory.drafts);
  memory.scrolled = newest(memory.scrolled);
  host.setState(memory);
}

function newest<T>(values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).slice(-MOST));
}

function remembered(state: unknown): Memory {
  const known = typeof state === "object" && state !== null ? (state as Partial<Memory>) : {};
  return { drafts: {}, scrolled: {}, ...known };
}
