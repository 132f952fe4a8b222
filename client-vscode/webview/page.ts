/** The page's way to the host, and what the host keeps for it. */
import type { FromPage, Memory } from "../src/chat/messages";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; setState(state: unknown): void };

const host = acquireVsCodeApi();

export function post(message: FromPage): void {
  host.postMessage(message);
}

export type Place = Memory["places"][string];

/** What the page is given back when VS Code makes it anew; `src/chat/tabs.ts` reads it. */
export function keepConversation(conversationId: string | undefined): void {
  host.setState({ conversationId });
}

export let memory: Memory = { drafts: {}, places: {} };

/** Takes over what an earlier page wanted to be remembered. */
export function recall(stored: Memory): void {
  memory = stored;
}

/** Keeps text for the input of a conversation; the host keeps it longer than the page. */
export function keepDraft(conversationId: string, text: string): void {
  takeDraft(conversationId, text);
  post({ type: "draft", conversationId, text });
}

/** Takes over what the host or another page has written. */
export function takeDraft(conversationId: string, text: string): void {
  if (text === "") Reflect.deleteProperty(memory.drafts, conversationId);
  else memory.drafts[conversationId] = text;
}

/** Keeps where the reader is; without a place that is the end. */
export function keepPlace(key: string, place: Place | undefined): void {
  if (place === undefined) Reflect.deleteProperty(memory.places, key);
  else memory.places[key] = place;
  post({ type: "place", key, place });
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

/** What was begun while the first message made the conversation belongs to it. */
export function moveDraft(from: string, to: string): void {
  const text = memory.drafts[from];
  if (text === undefined) return;
  keepDraft(from, "");
  keepDraft(to, text);
}
