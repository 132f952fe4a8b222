/** The page's way to the host, and what the host keeps for it. */
import type { FromPage, Memory } from "../src/chat/messages";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const host = acquireVsCodeApi();

export function post(message: FromPage): void {
  host.postMessage(message);
}

export type Place = Memory["places"][string];

/** How many conversations are remembered. */
const MOST = 50;

export let memory: Memory = { drafts: {}, places: {} };

/** Takes over what an earlier page wanted to be remembered. */
export function recall(kept: Memory): void {
  memory = kept;
}

/** VS Code's own memory for pages is written rarely, and not at all when a window in a browser is reloaded. */
export function remember(change: (memory: Memory) => void): void {
  change(memory);
  memory = { drafts: newest(memory.drafts), places: newest(memory.places) };
  post({ type: "remember", memory });
}

let isFocusWanted = false;
let onFocusRequest = (): void => undefined;

/** Gives the focus to the message's input, now or as soon as there is one that can be written in. */
export function requestFocus(): void {
  isFocusWanted = true;
  onFocusRequest();
}

/** Calls `listener` at each request for the focus, until what is returned is called. */
export function followFocusRequests(listener: () => void): () => void {
  onFocusRequest = listener;
  return () => { onFocusRequest = () => undefined; };
}

/** Whether the focus is requested, which it is not any more then. */
export function takeFocusRequest(): boolean {
  const isWanted = isFocusWanted;
  isFocusWanted = false;
  return isWanted;
}

/** Keeps text for the input of a conversation. With `ifEmpty` what the user has begun there stays, and false is returned. */
export function putDraft({ conversationId, text, ifEmpty }: { conversationId: string; text: string; ifEmpty?: boolean | undefined }): boolean {
  if (ifEmpty && memory.drafts[conversationId] !== undefined) return false;
  remember(({ drafts }) => { drafts[conversationId] = text; });
  return true;
}

/** What was begun while the first message made the conversation belongs to it. */
export function moveDraft(from: string, to: string): void {
  const text = memory.drafts[from];
  if (text === undefined) return;
  remember(({ drafts }) => {
    Reflect.deleteProperty(drafts, from);
    drafts[to] = text;
  });
}

function newest<T>(values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).slice(-MOST));
}
