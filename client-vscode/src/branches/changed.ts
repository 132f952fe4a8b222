/** What rows changed in the files, in words. It is read one row after the other, as they come into sight. */
export class ChangedFiles {
  readonly #texts = new Map<string, string | undefined>();
  /** Rows that are to be read, or read again. */
  readonly #due = new Set<string>();
  #isReading = false;

  constructor(
    private readonly read: (id: string) => Promise<string | undefined>,
    private readonly changed: (id: string) => void,
  ) {}

  /** Undefined as long as it is not read, and where there is nothing to show. */
  of(id: string): string | undefined {
    if (!this.#texts.has(id)) {
      this.#texts.set(id, undefined);
      this.#due.add(id);
      void this.#readDue();
    }
    return this.#texts.get(id);
  }

  /** Reads those again that were read: their branch went on. What is shown stays until then. */
  readAgain(ids: Iterable<string>): void {
    for (const id of ids) if (this.#texts.has(id)) this.#due.add(id);
    void this.#readDue();
  }

  clear(): void {
    this.#texts.clear();
    this.#due.clear();
  }

  async #readDue(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    // A set is gone through with what is added meanwhile.
    for (const id of this.#due) {
      this.#due.delete(id);
      const text = await this.read(id).catch(() => undefined);
      if (!this.#texts.has(id) || this.#texts.get(id) === text) continue;
      this.#texts.set(id, text);
      this.changed(id);
    }
    this.#isReading = false;
  }
}
