import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** A program that ended with something else than 0. `output` is the end of what it wrote. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";

  constructor(
    message: string,
    readonly output: string,
  ) {
    super(message);
  }
}

export interface RunOptions {
  /** Called with each line the program writes, on either stream. */
  onLine?: (line: string) => void;
  /** Ends the program; the run then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Default: the folder of the program that runs the extension. That of the editor may be the checkout it was started in. */
  cwd?: string;
}

const KEPT_LINES = 40;
const OWN_FOLDER = dirname(process.execPath);

/** Runs a program without a shell, and gives what it wrote. Throws `ProcessError` where it fails. */
export function run(command: string, given: string[], { onLine, signal, cwd = OWN_FOLDER }: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const lines: string[] = [];
    const child = spawn(command, given, { cwd, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const stop = () => { child.kill(); };
    signal?.addEventListener("abort", stop, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        if (lines.length > KEPT_LINES) lines.shift();
        onLine?.(line);
      });
    }
    child.once("error", (error) => { reject(new ProcessError(error.message, "")); });
    child.once("close", (code) => {
      signal?.removeEventListener("abort", stop);
      const output = lines.join("\n");
      if (signal?.aborted) reject(signal.reason as Error);
      else if (code === 0) resolve(output);
      else reject(new ProcessError(`${command} ${given[0] ?? ""} failed.`, output));
    });
  });
}
