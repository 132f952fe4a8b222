/** When a person is asked before a tool runs. */
export type Asking = "always" | "firstUse" | "never";
export type Decision = "once" | "conversation" | "no";

/** Whether a tool may run. What was allowed for a conversation holds until the window is closed. */
export class Consent {
  readonly #allowed = new Set<string>();

  /** `ask` asks the user. Several calls of one tool at a time are asked about one after the other. */
  async given(conversationId: string, tool: string, asking: Asking, ask: () => Promise<Decision>): Promise<boolean> {
    if (asking === "never") return true;
    return this.#inTurn(async () => {
      const key = JSON.stringify([conversationId, tool]);
      if (asking === "firstUse" && this.#allowed.has(key)) return true;
      const decision = await ask();
      if (decision === "conversation") this.#allowed.add(key);
      return decision !== "no";
    });
  }

  #last: Promise<unknown> = Promise.resolve();

  #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
