import { lstat, stat } from "node:fs/promises";
import { basename } from "node:path";

import { textOfFile } from "../agent/text-file";

/** Files that are parsed once in each of their states. Values of `most` characters in all, with their paths, are remembered. */
export class ParsedFiles<T extends { readonly length: number }> {
  /** By path. `state` changes with the file. */
  readonly #remembered = new Map<string, { state: string; value: T }>();
  #length = 0;

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
    this.#forget(file);
    if (size > this.longest || there.isSymbolicLink()) return undefined;
    const text = await textOfFile(file).catch(() => undefined);
    const value = typeof text === "string" ? this.parse(text) : text;
    if (value) this.#remember(file, state, value);
    return value;
  }

  #remember(file: string, state: string, value: T): void {
    this.#forget(file); // another call may have read it meanwhile
    this.#remembered.set(file, { state, value });
    this.#length += file.length + value.length;
    for (const oldest of this.#remembered.keys()) {
      if (this.#length <= this.most) break;
      this.#forget(oldest);
    }
  }

  #forget(file: string): void {
    const remembered = this.#remembered.get(file);
    if (remembered === undefined) return;
    this.#length -= file.length + remembered.value.length;
    this.#remembered.delete(file);
  }
}
