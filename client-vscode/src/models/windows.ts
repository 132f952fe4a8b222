import type { CoppiceClient } from "../client";

/** The windows of the models that conversations are sent to, in tokens, as the server last reported them. */
export class ContextWindows {
  readonly #windows = new Map<string, number>();

  constructor(client: Pick<CoppiceClient, "onNotification">) {
    client.onNotification("coppice/usageChanged", ({ conversationId, usage }) => { this.#windows.set(conversationId, usage.contextWindow); });
  }

  of(conversationId: string): number | undefined {
    return this.#windows.get(conversationId);
  }
}
