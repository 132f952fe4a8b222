import { TerminalText } from "./terminal-text";

/** Characters of output that a model gets of one command where its window is large. A guess: about 8,000 tokens. */
const MOST_OUTPUT = 30_000;
const LEAST_OUTPUT = 1000;
/** The share of the window that one result may take, so that a turn has room for several. */
const SHARE = 1 / 8;
/** Characters of a token of a command's output, on the side of fewer. */
const TOKEN_CHARACTERS = 3;
/** Characters that a person sees of a command that runs: a few screens. */
const TAIL = 4000;

/** Characters of output that a model with a window of so many tokens gets of one command. */
export function mostOutput(contextWindow: number | undefined): number {
  if (contextWindow === undefined) return MOST_OUTPUT;
  return Math.min(MOST_OUTPUT, Math.max(LEAST_OUTPUT, Math.floor(contextWindow * SHARE * TOKEN_CHARACTERS)));
}

/** What a command prints, as a terminal would show it: the beginning and the end of it for a model, the end for a person. */
export class CommandOutput {
  readonly #bounded: BoundedOutput;
  readonly #terminal: TerminalText;
  #recent = "";

  constructor(limit: number) {
    this.#bounded = new BoundedOutput(limit);
    this.#terminal = new TerminalText((text) => {
      this.#bounded.add(text);
      this.#recent = (this.#recent + text).slice(-TAIL);
    });
  }

  add(text: string): void {
    this.#terminal.add(text);
  }

  get text(): string {
    const all = this.#bounded.copy();
    all.add(this.#terminal.open);
    return all.text;
  }

  get tail(): string {
    return (this.#recent + this.#terminal.open).slice(-TAIL);
  }
}

/** Keeps the beginning and the end of a stream of text, and counts what lies between. */
export class BoundedOutput {
  readonly #limit: number;
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #omitted = 0;

  /** At most `limit` characters: a quarter from the beginning, the rest from the end, where errors are. */
  constructor(limit: number) {
    this.#limit = limit;
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

  copy(): BoundedOutput {
    const copied = new BoundedOutput(this.#limit);
    copied.#head = this.#head;
    copied.#tail = this.#tail;
    copied.#omitted = this.#omitted;
    return copied;
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
