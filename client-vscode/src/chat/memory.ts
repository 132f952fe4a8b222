import type * as vscode from "vscode";

import { type FromPage, type Memory, memoryOf } from "./messages";

const KEY = "coppice.chat.memory";
/** How many drafts and how many places are kept; a guess. */
const MOST = 50;

/** What outlives the pages: drafts and places by conversation. An empty id is the conversation that a first message will make. */
export class ChatMemory {
  #memory: Memory;

  constructor(private readonly memento: Pick<vscode.Memento, "get" | "update">) {
    this.#memory = memoryOf(memento.get(KEY));
  }

  get all(): Memory {
    return this.#memory;
  }

  draft(conversationId: string): string {
    return this.#memory.drafts[conversationId] ?? "";
  }

  /** Keeps a draft; an empty one is removed. */
  async keepDraft(conversationId: string, text: string): Promise<void> {
    await this.#keep({ ...this.#memory, drafts: changed(this.#memory.drafts, conversationId, text === "" ? undefined : text) });
  }

  /** Keeps where the reader has scrolled to; without a place that is the end. */
  async keepPlace({ key, place }: Extract<FromPage, { type: "place" }>): Promise<void> {
    await this.#keep({ ...this.#memory, places: changed(this.#memory.places, key, place) });
  }

  async #keep(memory: Memory): Promise<void> {
    this.#memory = memory;
    await this.memento.update(KEY, memory);
  }
}

/** A draft that a text is put after, once. */
export function draftWith(draft: string, text: string): string {
  if (draft === "") return text;
  return `\n\n${draft}`.endsWith(`\n\n${text}`) ? draft : `${draft}\n\n${text}`;
}

/** The newest values, with one of them changed or removed. */
function changed<T>(values: Readonly<Record<string, T>>, key: string, value: T | undefined): Record<string, T> {
  const others = Object.entries(values).filter(([each]) => each !== key);
  return Object.fromEntries((value === undefined ? others : [...others, [key, value] as const]).slice(-MOST));
}
