/** Keeps the beginning and the end of a stream of text, and counts what lies between. */
export class BoundedOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #omitted = 0;

  /** At most `limit` characters: a quarter from the beginning, the rest from the end, where errors are. */
  constructor(limit: number) {
    this.#headLimit = Math.floor(limit / 4);
    this.#tailLimit = limit - this.#headLimit;
  }

  add(text: string): void {
    const room = this.#headLimit - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    const excess = this.#tail.length - this.#tailLimit;
    // Cutting each time would copy the tail for every piece.
    if (excess > this.#tailLimit) this.#cut(excess);
  }

  get text(): string {
    const excess = this.#tail.length - this.#tailLimit;
    if (excess > 0) this.#cut(excess);
    if (this.#omitted === 0) return this.#head + this.#tail;
    return `${this.#head}\n[… ${this.#omitted.toLocaleString("en")} characters left out …]\n${this.#tail}`;
  }

  #cut(excess: number): void {
    this.#omitted += excess;
    this.#tail = this.#tail.slice(excess);
  }
}
