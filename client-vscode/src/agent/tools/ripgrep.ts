import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

import { ToolError } from "../errors";

/** Milliseconds that a search may take. A guess: longer than any in a checkout of 100,000 files on a disk. */
const TIMEOUT_MS = 20_000;
/** What a `.gitignore` excludes is left out, in a repository or not. */
const ALWAYS = ["--no-config", "--color=never", "--no-require-git", "--hidden"];
/** They come last, so that no glob of a call overrides them. */
const NEVER = ["--glob=!.git", "--glob=!*\n*"];

export interface Hits {
  lines: string[];
  /** There is more than was asked for. */
  isCut: boolean;
}

interface Run {
  program: string;
  options: readonly string[];
  /** The folder in which it runs, and what it searches there; without `path` all of the folder. */
  folder: string;
  path?: string;
  /** How many lines are wanted. */
  most: number;
  stop: AbortSignal;
  /** What becomes of a line; undefined leaves it out. */
  accept?: (line: string) => Promise<string | undefined>;
}

/**
 * The first lines of what ripgrep prints. Its expressions take linear time, whatever a model writes. Files with a line
 * break in their name are never among them: such a name would pass for two lines.
 */
export async function ripgrep({ program, options, folder, path, most, stop, accept = (line) => Promise.resolve(line) }: Run): Promise<Hits> {
  stop.throwIfAborted();
  const given = [...ALWAYS, ...options, ...NEVER, "--", ...(path === undefined ? [] : [path])];
  const child = spawn(program, given, { cwd: folder, windowsHide: true, stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => { child.kill("SIGKILL"); };
  const late = AbortSignal.timeout(TIMEOUT_MS);
  late.addEventListener("abort", kill);
  stop.addEventListener("abort", kill);
  let complaint = "";
  child.stderr.on("data", (data: Buffer) => { complaint = (complaint + data.toString()).slice(0, 1000); });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", () => { reject(new ToolError("The search could not be started. Use run_command instead.")); });
    child.once("close", resolve);
  });
  const read = async (): Promise<Hits> => {
    const lines: string[] = [];
    for await (const printed of linesOf(child.stdout)) {
      const line = await accept(printed);
      if (line === undefined) continue;
      if (lines.length === most) {
        kill();
        return { lines, isCut: true };
      }
      lines.push(line);
    }
    return { lines, isCut: false };
  };
  try {
    const [code, { lines, isCut }] = await Promise.all([ended, read()]);
    stop.throwIfAborted();
    if (late.aborted) throw new ToolError("The search took too long. Search in a folder, or with a glob.");
    // 1 is ripgrep's way to say that nothing was found; 2 comes with results when one file could not be read.
    if (!isCut && code === 2 && lines.length === 0) throw new ToolError(complaint.trim() || "The search failed.");
    return { lines, isCut };
  } finally {
    kill();
    late.removeEventListener("abort", kill);
    stop.removeEventListener("abort", kill);
  }
}

/** Lines as ripgrep ends them: those of Node's readline end at other characters, too, which a name can hold. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
