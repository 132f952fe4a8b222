/** What a terminal would show in the end of what a program prints: progress that overwrites itself is one line. */

/** Lines that a program can still go back to; progress of several lines at once has fewer. */
const CHANGEABLE = 50;
/** Characters of a line that can still be overwritten. Going back costs time in proportion to it. */
const LONGEST_LINE = 1000;
/** Characters of an escape sequence that has not ended: a longer one is none. */
const LONGEST_SEQUENCE = 4096;

const CSI = /\u001b\[[0-?]*[ -/]*[@-~]/;
const STRING = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/;
const SHORT = /\u001b[ -/]*[0-Z\\^-~]/;
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?|[ -/]*)$/;
const PIECES = new RegExp(`${CSI.source}|${STRING.source}|${SHORT.source}|[\\n\\r\\b]|[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]+|[\\s\\S]`, "g");

export class TerminalText {
  /** Gets the text that cannot change any more, as it comes. */
  readonly #settle: (text: string) => void;
  #lines: string[] = [""];
  #row = 0;
  #column = 0;
  /** The beginning of a sequence whose end has not come. */
  #begun = "";

  constructor(settle: (text: string) => void) {
    this.#settle = settle;
  }

  /** The lines that can still change. */
  get open(): string {
    return this.#lines.join("\n");
  }

  add(text: string): void {
    const all = this.#begun + text;
    const at = beginningOfSequence(all);
    this.#begun = all.slice(at);
    for (const [piece] of all.slice(0, at).matchAll(PIECES)) this.#take(piece);
  }

  #take(piece: string): void {
    if (piece === "\n") this.#newLine();
    else if (piece === "\r") this.#column = 0;
    else if (piece === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (piece.startsWith("\u001b[")) this.#control(piece);
    else if (piece >= " " || piece.startsWith("\t")) this.#write(piece);
  }

  #write(text: string): void {
    for (let from = 0; from < text.length; ) {
      const part = text.slice(from, from + LONGEST_LINE - this.#column);
      const line = this.#line.padEnd(this.#column);
      this.#line = line.slice(0, this.#column) + part + line.slice(this.#column + part.length);
      this.#column += part.length;
      from += part.length;
      if (this.#column >= LONGEST_LINE) this.#settleAll("");
    }
  }

  #newLine(): void {
    this.#column = 0;
    this.#row += 1;
    if (this.#row === this.#lines.length) this.#lines.push("");
    if (this.#lines.length <= CHANGEABLE) return;
    this.#settle(`${this.#lines.shift() ?? ""}\n`);
    this.#row -= 1;
  }

  #control(sequence: string): void {
    const [first = 0, second = 0] = sequence.slice(2, -1).split(";").map((each) => Math.min(Number.parseInt(each, 10) || 0, LONGEST_LINE - 1));
    const count = Math.max(1, first);
    switch (sequence.at(-1)) {
      case "A": this.#row = Math.max(0, this.#row - count); break;
      case "B": this.#row = Math.min(this.#lines.length - 1, this.#row + count); break;
      case "C": this.#column = Math.min(LONGEST_LINE - 1, this.#column + count); break;
      case "D": this.#column = Math.max(0, this.#column - count); break;
      case "E": this.#row = Math.min(this.#lines.length - 1, this.#row + count); this.#column = 0; break;
      case "F": this.#row = Math.max(0, this.#row - count); this.#column = 0; break;
      case "G": this.#column = count - 1; break;
      case "H": case "f":
        this.#row = Math.min(this.#lines.length - 1, count - 1);
        this.#column = Math.max(0, second - 1);
        break;
      case "J":
        // What a program clears away is still what it printed.
        if (first >= 2) this.#settleAll(this.open === "" ? "" : "\n");
        else if (first === 0) { this.#line = this.#line.slice(0, this.#column); this.#lines.length = this.#row + 1; }
        break;
      case "K":
        this.#line = first === 0 ? this.#line.slice(0, this.#column) : first === 1 ? " ".repeat(this.#column) + this.#line.slice(this.#column) : "";
        break;
    }
  }

  #settleAll(end: string): void {
    this.#settle(this.open + end);
    this.#lines = [""];
    this.#row = 0;
    this.#column = 0;
  }

  get #line(): string {
    return this.#lines[this.#row] ?? "";
  }

  set #line(text: string) {
    this.#lines[this.#row] = text;
  }
}

/** Where a sequence begins whose end has not come; the length of the text where there is none. */
function beginningOfSequence(text: string): number {
  return text.length - (UNFINISHED.exec(text.slice(-LONGEST_SEQUENCE))?.[0].length ?? 0);
}
