import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { run, type RunOptions } from "./processes";
import { isWindows } from "../operating-system";

const POINTER = "current.json";
const DAY_MS = 24 * 60 * 60_000;

interface Pointer {
  /** SHA-256 of the wheel that was installed. */
  wheel: string;
  folder: string;
}

/**
 * The extension's own server: a virtual environment below `root`, made from `wheel`. Each installation has a folder
 * of its own, and counts from the moment that the pointer names it; so two windows may install at once, and one that
 * is stopped half-way leaves nothing that would be used.
 */
export class Installation {
  constructor(
    readonly root: string,
    readonly wheel: string,
  ) {}

  /** The installed program, or undefined where nothing, or another version, is installed. */
  async program(): Promise<string | undefined> {
    const pointer = await this.#pointer();
    return pointer?.wheel === (await this.#digest()) ? this.#programIn(pointer.folder) : undefined;
  }

  /** Whether some version was installed; a person has then agreed to it. */
  async isAnother(): Promise<boolean> {
    return (await this.#pointer()) !== undefined && (await this.program()) === undefined;
  }

  /** Installs with `python` and gives the program. The server's dependencies come from the index that pip is set up with. */
  async install(python: string, options: RunOptions = {}): Promise<string> {
    const folder = randomUUID();
    const path = join(this.root, folder);
    await mkdir(this.root, { recursive: true });
    try {
      await run(python, ["-I", "-m", "venv", path], { ...options, cwd: this.root });
      const own = join(path, ...programs(), "python");
      const quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
      await run(own, ["-I", "-m", "pip", "install", ...quiet, this.wheel], { ...options, cwd: this.root });
      await this.#verify(this.#programIn(folder), options);
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
    await this.#point({ wheel: await this.#digest(), folder });
    await this.#removeOld(folder);
    return this.#programIn(folder);
  }

  #programIn(folder: string): string {
    return join(this.root, folder, ...programs(), isWindows() ? "coppice.exe" : "coppice");
  }

  /** That the program starts, and is what the wheel holds. */
  async #verify(program: string, options: RunOptions): Promise<void> {
    const version = basename(this.wheel).split("-")[1] ?? "";
    const printed = await run(program, ["--version"], { ...options, cwd: this.root });
    if (!printed.split(/\s+/).includes(version)) {
      throw new Error(`The installed server says it is ${printed.trim()}, and ${version} was expected.`);
    }
  }

  async #digest(): Promise<string> {
    return createHash("sha256").update(await readFile(this.wheel)).digest("hex");
  }

  async #pointer(): Promise<Pointer | undefined> {
    try {
      return JSON.parse(await readFile(join(this.root, POINTER), "utf8")) as Pointer;
    } catch {
      return undefined;
    }
  }

  async #point(pointer: Pointer): Promise<void> {
    const whole = join(this.root, `${POINTER}.${pointer.folder}`);
    await writeFile(whole, JSON.stringify(pointer));
    await rename(whole, join(this.root, POINTER));
  }

  /** A younger folder may be another window's, at work. */
  async #removeOld(current: string): Promise<void> {
    for (const entry of await readdir(this.root, { withFileTypes: true })) {
      const path = join(this.root, entry.name);
      const isOld = entry.isDirectory() && entry.name !== current && Date.now() - (await stat(path)).mtimeMs > DAY_MS;
      if (isOld) await rm(path, { recursive: true, force: true });
    }
  }
}

function programs(): string[] {
  return isWindows() ? ["Scripts"] : ["bin"];
}
