import * as v from "valibot";

import { type Mode, modes, type ModesByConversation } from "./mode";

/** How many conversations keep another mode than *ask*: more than are worked on at a time. */
const MOST = 200;

/** Where modes outlive the window: `vscode.Memento` with one key. A checkout cannot write there. */
export interface ModeMemory {
  read(): unknown;
  write(all: ModesByConversation): void;
}

/** The mode of each conversation. */
export class Modes {
  readonly #memory: ModeMemory;
  readonly #listeners = new Set<() => void>();
  #all: ModesByConversation;

  constructor(memory: ModeMemory) {
    this.#memory = memory;
    const parsed = v.safeParse(modes, memory.read());
    this.#all = parsed.success ? parsed.output : {};
  }

  get all(): ModesByConversation {
    return this.#all;
  }

  of(conversationId: string): Mode {
    return Object.hasOwn(this.#all, conversationId) ? (this.#all[conversationId] ?? "ask") : "ask";
  }

  set(conversationId: string, mode: Mode): void {
    const others = Object.entries(this.#all).filter(([id]) => id !== conversationId);
    const entries = mode === "ask" ? others : [...others, [conversationId, mode] as const];
    this.#all = Object.fromEntries(entries.slice(-MOST));
    this.#memory.write(this.#all);
    for (const listener of this.#listeners) listener();
  }

  /** The conversation that the first message was to make is there: what was chosen for it is its own. */
  adopt(conversationId: string): void {
    const chosen = this.of("");
    if (chosen === "ask") return;
    this.set(conversationId, chosen);
    this.set("", "ask");
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }
}
