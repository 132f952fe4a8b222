import { randomUUID } from "node:crypto";

import * as v from "valibot";
import * as vscode from "vscode";

import type { PlacedStep } from "../snapshots/workspace";
import type { ChatAccess } from "./feature";
import type { FilesOffer, FromPage, ToPage } from "./messages";

const OPEN = "coppice.filesOffers";
const TEXTS = "coppice.textsToSend";
/** Files that an offer names. A guess: more than anybody reads. */
const MOST_NAMED = 100;

const openIds = v.fallback(v.array(v.string()), []);
const textsById = v.fallback(v.record(v.string(), v.string()), {});

type Answer = Extract<FromPage, { type: "answerFiles" }>;
export type Choice = Answer["choice"];

interface Asked {
  offer: FilesOffer;
  answer: (choice: Choice) => void;
}

/**
 * The questions about files in the chat, at most one for each conversation. Of one that the end of the window left open
 * the next one says so.
 */
export class FilesOffers {
  /** By conversation. */
  readonly #asked = new Map<string, Asked>();
  /** By conversation, what is to be sent. */
  readonly #texts = new Map<string, { text: string }>();

  constructor(
    private readonly chat: Pick<ChatAccess, "post" | "putDraft">,
    private readonly memory: Pick<vscode.Memento, "get" | "update">,
  ) {
    const texts = Object.entries(v.parse(textsById, memory.get(TEXTS)));
    for (const conversationId of v.parse(openIds, memory.get(OPEN))) void this.ask(conversationId, "unanswered");
    for (const [conversationId, text] of texts) chat.putDraft(conversationId, text, { afterOther: true });
    this.#store();
  }

  greet(post: (message: ToPage) => void): void {
    for (const [conversationId, { offer }] of this.#asked) post({ type: "filesOffer", conversationId, offer });
  }

  async take({ id, choice, always }: Answer): Promise<void> {
    const asked = [...this.#asked.values()].find(({ offer }) => offer.id === id);
    if (asked !== undefined && always) await keepChoice(choice);
    asked?.answer(choice);
  }

  /** Waits for the answer. One that the conversation was asked before is cancelled. */
  ask(conversationId: string, kind: FilesOffer["kind"], steps: readonly PlacedStep[] = [], ends?: FilesOffer["ends"]): Promise<Choice> {
    this.cancel(conversationId);
    // What can make programs run is always among those that are named, and what the user changed before the rest.
    const order = [...steps].sort((one, other) => rank(one) - rank(other));
    const most = Math.max(MOST_NAMED, order.filter(({ isControl }) => isControl).length);
    const files = order.slice(0, most).map(({ shown, fate, added, removed, isControl }) => ({ path: shown, fate, added, removed, isControl }));
    const offer: FilesOffer = { id: randomUUID(), kind, files, more: steps.length - files.length, ends };
    return new Promise((resolve) => {
      const answer = (choice: Choice): void => {
        this.#asked.delete(conversationId);
        this.#store();
        this.chat.post({ type: "filesOffer", conversationId });
        resolve(choice);
      };
      this.#asked.set(conversationId, { offer, answer });
      this.#store();
      this.chat.post({ type: "filesOffer", conversationId, offer });
    });
  }

  /** Shows a question again that was put off. */
  repeat(conversationId: string): void {
    const asked = this.#asked.get(conversationId);
    if (asked === undefined) return;
    asked.offer = { ...asked.offer, id: randomUUID() };
    this.chat.post({ type: "filesOffer", conversationId, offer: asked.offer });
  }

  cancel(conversationId: string): void {
    this.#asked.get(conversationId)?.answer("cancel");
  }

  /** Does what comes before a text is sent. Where the window ends meanwhile, the next one has the text in the input. */
  async keeping<T>(conversationId: string, text: string | undefined, work: () => Promise<T>): Promise<T> {
    if (text === undefined) return work();
    const own = { text };
    this.#texts.set(conversationId, own);
    this.#store();
    try {
      return await work();
    } finally {
      if (this.#texts.get(conversationId) === own) this.#texts.delete(conversationId);
      this.#store();
    }
  }

  #store(): void {
    const open = [...this.#asked].filter(([, { offer }]) => offer.kind !== "unfinished");
    void this.memory.update(OPEN, open.map(([conversationId]) => conversationId));
    void this.memory.update(TEXTS, Object.fromEntries([...this.#texts].map(([conversationId, { text }]) => [conversationId, text])));
  }
}

function rank({ isControl, fate }: PlacedStep): number {
  return isControl ? 0 : ["conflict", "merged", "written", "deleted"].indexOf(fate) + 1;
}

async function keepChoice(choice: Choice): Promise<void> {
  const value = choice === "both" ? "always" : choice === "conversation" ? "never" : undefined;
  if (value !== undefined) await vscode.workspace.getConfiguration("coppice").update("chat.branchFiles", value, vscode.ConfigurationTarget.Global);
}
