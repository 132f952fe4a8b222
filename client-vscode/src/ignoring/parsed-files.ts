import { lstat, stat } from "node:fs/promises";
import { basename } from "node:path";

import { textOfFile } from "../agent/text-file";

/** Files that are parsed once in each of their states. Values of `most` characters in all are remembered. */
export class ParsedFiles<T extends { readonly length: number }> {
  /** By path. `state` changes with the file. */
  readonly #remembered = new Map<string, { state: string; value: T }>();

  constructor(
    private readonly parse: (text: string) => T | undefined,
    private readonly longest: number,
    private readonly most: number,
  ) {}

  /** Null where there is no file; undefined where it cannot be read or parsed, is too long, or a link where Git follows none. */
  async of(file: string): Promise<T | null | undefined> {
    const look = basename(file) === ".gitignore" ? lstat : stat;
    const there = await look(file).catch((error: unknown) => (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? null : undefined));
    if (!there) return there;
    const { ino, size, mtimeMs, ctimeMs } = there;
    const state = [ino, size, mtimeMs, ctimeMs].join();
    const before = this.#remembered.get(file);
    if (before?.state === state) return before.value;
    this.#remembered.delete(file);
    if (size > this.longest || there.isSymbolicLink()) return undefined;
    const text = await textOfFile(file).catch(() => undefined);
    const value = typeof text === "string" ? this.parse(text) : text;
    if (value) this.#remember(file, state, value);
    return value;
  }

  #remember(file: string, state: string, value: T): void {
    this.#remembered.set(file, { state, value });
    let length = [...this.#remembered.values()].reduce((sum, each) => sum + each.value.length, 0);
    for (const [oldest, each] of this.#remembered) {
      if (length <= this.most) break;
      length -= each.value.length;
      this.#remembered.delete(oldest);
    }
  }
}
