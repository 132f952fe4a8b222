/** Names in folders where one that differs in case alone is the same: usually so on Windows and macOS, and on disks of theirs. */
import { lstat, readdir } from "node:fs/promises";
import { join, posix } from "node:path";

/** The same for names that such a folder may take for one. */
export function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/**
 * Whether a folder takes names that differ in case alone for the same one. Of one whose names have no ASCII letters
 * nothing is known: false. Others may have an upper case of another length, as `ß` has.
 */
export async function ignoresCase(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    const lower = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const other = name === lower ? name.replace(/[a-z]/g, (letter) => letter.toUpperCase()) : lower;
    if (other !== name && !names.includes(other)) return lstat(join(folder, other)).then(() => true, () => false);
  }
  return false;
}

/** How a folder writes the names in it; each folder below is read once. */
export class WrittenNames {
  readonly #folders = new Map<string, Promise<Map<string, string>>>();

  constructor(private readonly folder: string) {}

  /** A path that exists, as it is written; one that is not listed as it is given. */
  async of(path: string): Promise<string> {
    let written = "";
    for (const part of path.split("/")) {
      const names = await this.#namesIn(written);
      written = posix.join(written, names.get(part) ?? names.get(folded(part)) ?? part);
    }
    return written;
  }

  #namesIn(relative: string): Promise<Map<string, string>> {
    const read = this.#folders.get(relative) ?? readdir(join(this.folder, relative)).then(
      (names) => new Map([...names.map((name) => [folded(name), name] as const), ...names.map((name) => [name, name] as const)]),
      () => new Map<string, string>(),
    );
    this.#folders.set(relative, read);
    return read;
  }
}
