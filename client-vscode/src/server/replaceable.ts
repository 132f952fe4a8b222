import { setTimeout as sleep } from "node:timers/promises";

/** How long a server may take to end, in milliseconds, before another one is started; a guess. */
const END_MS = 5000;

export interface Lifecycle<Server> {
  /** `isCurrent`: no stop and no other start has happened since, so that what the server reports counts. */
  launch: (isCurrent: () => boolean) => Promise<Server>;
  end: (server: Server) => Promise<unknown>;
  onFailed: (error: unknown) => void;
  onStopped: () => void;
}

/** One server that can be stopped and replaced. At most one is current, and whoever asks for it gets that one. */
export class Replaceable<Server> {
  readonly #lifecycle: Lifecycle<Server>;
  readonly #endMs: number;
  #current: Promise<Server> | undefined;
  /** What a start waits for; it never rejects. */
  #stopping: Promise<unknown> = Promise.resolve();

  constructor(lifecycle: Lifecycle<Server>, endMs = END_MS) {
    this.#lifecycle = lifecycle;
    this.#endMs = endMs;
  }

  get current(): Promise<Server> | undefined {
    return this.#current;
  }

  /**
   * The current server or its start. Rejects with the error of its launch, after which the next call launches again,
   * and when it is stopped before its launch.
   */
  start(): Promise<Server> {
    if (this.#current !== undefined) return this.#current;
    const starting: Promise<Server> = this.#stopping.then(() => {
      const isCurrent = (): boolean => this.#current === starting;
      if (!isCurrent()) throw new Error("The server was stopped before it was started.");
      return this.#lifecycle.launch(isCurrent);
    });
    this.#current = starting;
    starting.catch((error: unknown) => {
      if (this.#current !== starting) return;
      this.#current = undefined;
      this.#lifecycle.onFailed(error);
    });
    return starting;
  }

  /** As `start`, and the server that replaces it when it is replaced meanwhile. */
  async newest(): Promise<Server> {
    const starting = this.start();
    try {
      const server = await starting;
      if (!this.#isReplaced(starting)) return server;
    } catch (error) {
      if (!this.#isReplaced(starting)) throw error;
    }
    return this.newest();
  }

  /** Ends the server; one that hangs is waited for only so long, and ends when it can. */
  async stop(): Promise<void> {
    // One that has ended already rejects the request to end.
    const ending = this.#current?.then((server) => this.#lifecycle.end(server)).catch(() => undefined);
    this.#current = undefined;
    const ended = Promise.race([ending, sleep(this.#endMs, undefined, { ref: false })]).then(() => { this.#lifecycle.onStopped(); });
    this.#stopping = Promise.all([this.#stopping, ended]);
    await this.#stopping;
  }

  /** Ends the server and starts another one as soon as `change` has changed what it is started with. */
  async replace(change: () => Promise<void>): Promise<void> {
    const stopping = this.stop();
    const changing = change();
    this.#stopping = Promise.allSettled([stopping, changing]);
    try {
      await this.newest();
    } finally {
      await changing;
    }
  }

  /** The server has ended for good by itself. */
  forget(): void {
    this.#current = undefined;
  }

  #isReplaced(starting: Promise<Server>): boolean {
    return this.#current !== undefined && this.#current !== starting;
  }
}
