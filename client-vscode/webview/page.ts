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

/** A place in a conversation: pixels that the item of an entry stands above the upper edge. */
export interface Place {
  entry: string;
  above: number;
}

interface Memory {
  /** What was typed and not sent, by conversation. */
  drafts: Record<string, string>;
  /** Where the reader was, of conversations that were scrolled up. */
  places: Record<string, Place>;
}

const MOST = 50;

export const memory: Memory = remembered(host.getState());

export function remember(change: (memory: Memory) => void): void {
  change(memory);
  memory.drafts = newest(memory.drafts);
  memory.places = newest(memory.places);
  host.setState(memory);
}

function newest<T>(values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).slice(-MOST));
}

function remembered(state: unknown): Memory {
  const known = typeof state === "object" && state !== null ? (state as Partial<Memory>) : {};
  return { drafts: {}, places: {}, ...known };
}
