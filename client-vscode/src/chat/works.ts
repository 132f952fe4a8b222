import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Work } from "./messages";

const COMPACTING = "Compacting";

type Listener = (conversationId: string, work: Work | undefined) => void;

/** The server's long work, by conversation. */
export class Works implements vscode.Disposable {
  readonly #tell: Listener;
  readonly #works = new Map<string, Work>();
  readonly #listening: vscode.Disposable[];

  constructor(client: CoppiceClient, tell: Listener) {
    this.#tell = tell;
    this.#listening = [
      client.onNotification("coppice/compactionStarted", ({ conversationId }) => {
        this.#put(conversationId, { title: COMPACTING, cancellable: true });
      }),
      client.onNotification("coppice/compactionEnded", ({ conversationId }) => {
        this.#put(conversationId, undefined);
      }),
    ];
  }

  of(conversationId: string): Work | undefined {
    return this.#works.get(conversationId);
  }

  dispose(): void {
    for (const each of this.#listening) each.dispose();
  }

  #put(conversationId: string, work: Work | undefined): void {
    if (work === undefined) this.#works.delete(conversationId);
    else this.#works.set(conversationId, work);
    this.#tell(conversationId, work);
  }
}
