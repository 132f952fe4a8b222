import type { CoppiceClient } from "../client";

/** Milliseconds between two readings: windows get the focus often. A guess. */
const AGAIN_MS = 10_000;

/** The sessions of other agents in the window's folders, which the server stores as conversations. */
export class Sources {
  readonly #client: Pick<CoppiceClient, "request" | "isAvailable">;
  readonly #log: { warn(message: string): void };
  #reading: Promise<void> | undefined;
  #ended = -Infinity;

  constructor(client: Pick<CoppiceClient, "request" | "isAvailable">, log: { warn(message: string): void }) {
    this.#client = client;
    this.#log = log;
  }

  /** Has the server store what is new; never throws. The list is told of it as of every change. */
  async read(): Promise<void> {
    if (!this.#client.isAvailable || Date.now() - this.#ended < AGAIN_MS) return;
    this.#reading ??= this.#read();
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const { problems } = await this.#client.request("coppice/sources/update", {});
      for (const problem of problems) this.#log.warn(`Sessions of other agents: ${problem}`);
    } catch (error) {
      this.#log.warn(`The sessions of other agents could not be read: ${String(error)}`);
    } finally {
      this.#reading = undefined;
      this.#ended = Date.now();
    }
  }
}
