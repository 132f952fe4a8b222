import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { ToolError } from "../errors";

/** Milliseconds that a search may take. A guess: longer than any in a checkout of 100,000 files on a disk. */
const TIMEOUT_MS = 20_000;
/** Characters of a line that are kept. */
const LONGEST_LINE = 400;

export interface Found {
  lines: string[];
  /** There is more than was asked for. */
  isCut: boolean;
}

/** The first lines of what ripgrep prints. Its expressions take linear time, whatever a model writes. */
export async function ripgrep(program: string, given: readonly string[], cwd: string, most: number, stop: AbortSignal): Promise<Found> {
  stop.throwIfAborted();
  const child = spawn(program, ["--no-config", "--color=never", ...given], { cwd, windowsHide: true, stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => { child.kill("SIGKILL"); };
  const late = AbortSignal.timeout(TIMEOUT_MS);
  late.addEventListener("abort", kill);
  stop.addEventListener("abort", kill);
  let complaint = "";
  child.stderr.on("data", (data: Buffer) => { complaint = (complaint + data.toString()).slice(0, 1000); });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", () => { reject(new ToolError("Searching needs ripgrep, which this editor does not bring. Use run_command instead.")); });
    child.once("close", resolve);
  });
  const read = async (): Promise<Found> => {
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (lines.length === most) {
        kill();
        return { lines, isCut: true };
      }
      lines.push(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
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
    late.removeEventListener("abort", kill);
    stop.removeEventListener("abort", kill);
  }
}
