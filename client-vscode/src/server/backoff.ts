const WINDOW_MS = 3 * 60_000;
const MOST_RESTARTS = 4;
const FIRST_DELAY_MS = 500;

/** When a server that ended by itself is started again: sooner the first time, and not for ever. */
export class Backoff {
  #ends: number[] = [];

  /** How many milliseconds to wait after an end at `now`, or undefined when it ends too often. */
  delayAfterEnd(now: number): number | undefined {
    this.#ends = [...this.#ends.filter((end) => now - end < WINDOW_MS), now];
    const restarts = this.#ends.length;
    return restarts > MOST_RESTARTS ? undefined : FIRST_DELAY_MS * 4 ** (restarts - 1);
  }
}
