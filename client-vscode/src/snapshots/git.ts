import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";

import { findOnPath } from "../programs";

/** Nothing that a checkout says changes a byte: this file ranks above its `.gitattributes`. */
const ATTRIBUTES = "* -filter -text -eol -crlf -ident -working-tree-encoding -merge\n";
/** Settings of ours; those of the system and the user are not read. */
const SETTINGS = {
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.attributesFile": devNull,
  "core.excludesFile": devNull,
  "core.autocrlf": "false",
  "core.splitIndex": "false",
  "core.ignoreCase": "false",
  "core.fsync": "all",
  "core.fsyncMethod": "batch",
  "core.logAllRefUpdates": "false",
  "gc.auto": "0",
};

/** Git ended with an error, or did not end in time. */
export class GitError extends Error {}

/** Runs `git` on a repository of the extension's own, whose working tree is a folder of the user's. */
export class HiddenGit {
  readonly #environment: NodeJS.ProcessEnv;

  /** `repository` and `folder` are absolute. `timeoutMs`: after which a command is ended. `folders`: those of the workspace, where no Git is taken from. */
  constructor(
    readonly repository: string,
    private readonly folder: string,
    private readonly timeoutMs: number,
    private readonly folders: () => readonly string[],
  ) {
    const foreign = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith("GIT_"));
    this.#environment = {
      ...Object.fromEntries(foreign),
      GIT_DIR: repository,
      GIT_WORK_TREE: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: devNull,
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_DEFAULT_HASH: "sha1",
      GIT_LITERAL_PATHSPECS: "1",
      LC_ALL: "C",
    };
  }

  /** Makes the repository, or writes its attributes again. */
  async prepare(): Promise<void> {
    await mkdir(this.repository, { recursive: true, mode: 0o700 });
    const init = async (): Promise<void> => {
      await this.run(["init", "--quiet", "--template="]);
      await this.run(["rev-parse", "--git-dir"]); // It leaves a HEAD that is none.
    };
    await init().catch(async () => {
      // They hold nothing that it does not write: a crash may have left them in pieces.
      for (const name of ["HEAD", "config"]) await rm(join(this.repository, name), { force: true });
      await init();
    });
    await mkdir(join(this.repository, "info"), { recursive: true });
    await writeFile(join(this.repository, "info", "attributes"), ATTRIBUTES);
  }

  /** Whether Git is of this version or a later one. Throws `GitError`. */
  async isAtLeast(major: number, minor: number): Promise<boolean> {
    const [, ...numbers] = /(\d+)\.(\d+)/.exec((await this.run(["version"])).toString()) ?? [];
    const [ownMajor = 0, ownMinor = 0] = numbers.map(Number);
    return ownMajor > major || (ownMajor === major && ownMinor >= minor);
  }

  /**
   * What the command prints. `accepts`: whether an exit code is no error. `more`: settings of this command. `index`:
   * a file of its own. `onPrinted` gets what is printed piece by piece; nothing is returned then. Throws `GitError`.
   */
  async run(given: readonly string[], input: string | Buffer = "", { accepts = (code: number): boolean => code === 0, timeoutMs = this.timeoutMs, more = {}, index = undefined as string | undefined, onPrinted = undefined as ((data: Buffer) => void) | undefined } = {}): Promise<Buffer> {
    const settings = Object.entries({ ...SETTINGS, ...more }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const program = await findOnPath("git", process.env["PATH"], this.folders());
    if (program === undefined) throw new GitError("Git cannot be run: there is none on the PATH outside of the workspace.");
    const child = spawn(program, ["-C", this.folder, ...settings, ...given], { cwd: this.repository, env: { ...this.#environment, ...index !== undefined && { GIT_INDEX_FILE: index } }, windowsHide: true });
    const timer = setTimeout(() => { child.kill("SIGKILL"); }, timeoutMs);
    const printed: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", onPrinted ?? ((data: Buffer) => printed.push(data)));
    child.stderr.on("data", (data: Buffer) => errors.push(data));
    // A command that reads no further is not an error of ours: its exit code says what happened.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", resolve);
      });
      if (code !== null && accepts(code)) return Buffer.concat(printed);
      const why = code === null ? "did not end in time" : Buffer.concat(errors).toString().trim().slice(0, 500);
      throw new GitError(`git ${given[0] ?? ""}: ${why}`);
    } catch (error) {
      throw error instanceof GitError ? error : new GitError(`Git cannot be run: ${String(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The id that Git gives a content. */
export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Names, each with NUL at its end. */
export function listOf(names: readonly string[]): string {
  return names.map((name) => `${name}\0`).join("");
}

/** The names of a list that ends each with NUL, without those that are not UTF-8. */
export function namesOf(list: Buffer): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const names: string[] = [];
  for (let from = 0, to = list.indexOf(0); to >= 0; from = to + 1, to = list.indexOf(0, from)) {
    try {
      names.push(decoder.decode(list.subarray(from, to)));
    } catch {
      // It could not be written back under the same name.
    }
  }
  return names;
}
