/** Work that is due once a swarm of changes is over. */
export class Settling {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly milliseconds: number,
    private readonly work: () => void,
  ) {}

  /** The work is done `milliseconds` after the first of these calls. */
  soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.work();
    }, this.milliseconds);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}
