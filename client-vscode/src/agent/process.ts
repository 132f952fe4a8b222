import { type ChildProcess, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

import { visible } from "../format";
import { windowsProgram } from "../programs";
import { CommandOutput } from "./output";
import { shellCall } from "./shell";
import { isWindows, platform } from "../operating-system";

/** Milliseconds between asking a process to end and ending it. */
const GRACE_MS = 2000;
/** Milliseconds to wait for the output of processes that outlive the shell. */
const DRAIN_MS = 500;

/** A program that is started without a shell. */
export interface Program {
  /** Absolute. */
  file: string;
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** The descriptor of the file that is its standard input; without one that is empty. */
  input: number | undefined;
}

export interface Command {
  command: string;
  /** What is started for the command instead of a shell. */
  program?: Program | undefined;
  cwd: string;
  /** The shell to run it in; undefined is the system's. */
  shell?: string | undefined;
  environment?: NodeJS.ProcessEnv;
  timeoutMs: number;
  /** Characters of output that the outcome holds. */
  limit: number;
}

export interface Outcome {
  output: string;
  /** Undefined where the command was ended before it ended by itself, or runs on. */
  exitCode: number | undefined;
  /** `left`: it runs on, and nobody waits for it. */
  ending: "exited" | "timeout" | "stopped" | "left";
}

/** A command that runs, in a process group of its own so that all it started ends with it. */
export class RunningCommand {
  readonly #child: ChildProcess;
  readonly #output: CommandOutput;
  readonly #timer: NodeJS.Timeout;
  #ending: Outcome["ending"] = "exited";
  #leave!: (outcome: Outcome) => void;
  /** The end of the process. */
  readonly exited: Promise<Outcome>;
  /** The end of the process, or that it was left running. */
  readonly done: Promise<Outcome>;

  /** `onOutput` gets everything that the command prints, as it comes. */
  constructor({ command, program, cwd, shell, environment, timeoutMs, limit }: Command, onOutput: (text: string) => void) {
    this.#output = new CommandOutput(limit);
    const given = program?.environment ?? environment ?? commandEnvironment(process.env);
    const { file, args, isVerbatim } = program === undefined ? shellCall(command, shell, platform(), given) : { ...program, isVerbatim: false };
    this.#child = spawn(file, args, {
      cwd,
      env: given,
      stdio: [program === undefined ? "pipe" : (program.input ?? "ignore"), "pipe", "pipe"],
      windowsVerbatimArguments: isVerbatim,
      detached: !isWindows(),
      windowsHide: true,
    });
    const take = (text: string): void => {
      if (text === "") return;
      this.#output.add(text);
      onOutput(text);
    };
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      const decoder = new StringDecoder("utf8");
      stream?.on("data", (data: Buffer) => { take(decoder.write(data)); });
    }
    // A command that closes its input is not an error of ours.
    this.#child.stdin?.on("error", () => undefined);
    this.#timer = setTimeout(() => { this.#end("timeout"); }, timeoutMs);
    this.exited = this.#wait().finally(() => { clearTimeout(this.#timer); });
    this.done = Promise.race([this.exited, new Promise<Outcome>((resolve) => { this.#leave = resolve; })]);
  }

  /** The end of what it has printed so far. */
  get tail(): string {
    return this.#output.tail;
  }

  /** Nobody waits for the command any more: it runs on without a limit of time. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#leave({ output: this.#output.text, exitCode: undefined, ending: "left" });
  }

  /** What a person types into the terminal. */
  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  stop(): void {
    this.#end("stopped");
  }

  #end(ending: Outcome["ending"]): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#ending !== "exited") return;
    this.#ending = ending;
    this.#signal("SIGTERM");
    setTimeout(() => { this.#signal("SIGKILL"); }, GRACE_MS).unref();
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (isWindows()) {
      spawn(windowsProgram("taskkill.exe", process.env), ["/pid", String(pid), "/T", "/F"], { windowsHide: true }).on("error", () => undefined);
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // The whole group has ended already.
    }
  }

  async #wait(): Promise<Outcome> {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code) => {
        // What runs on in the background keeps the pipes open; the command itself has ended.
        const late = setTimeout(() => { resolve(code); }, DRAIN_MS);
        this.#child.once("close", () => {
          clearTimeout(late);
          resolve(code);
        });
      });
    });
    const ended = this.#ending === "exited";
    return { output: this.#output.text, exitCode: ended ? (exitCode ?? 128) : undefined, ending: this.#ending };
  }
}

/** What a terminal prints above the output. The model's text has no control sequences there. */
export function commandHead(cwd: string, command: string): string {
  return `\u001b[1m${visible(cwd)}$ ${visible(command)}\u001b[0m\n`;
}

/**
 * The environment of the editor without what belongs to the editor itself, and without pagers that wait for keys. Git
 * starts no program that watches the files: a repository names it, and `git status` would run it.
 */
export function commandEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(([name]) => !/^(VSCODE_|ELECTRON_)/.test(name));
  const configured = Number.parseInt(environment["GIT_CONFIG_COUNT"] ?? "0", 10) || 0;
  const git = { GIT_CONFIG_COUNT: String(configured + 1), [`GIT_CONFIG_KEY_${configured}`]: "core.fsmonitor", [`GIT_CONFIG_VALUE_${configured}`]: "false" };
  return { ...Object.fromEntries(own), ...git, PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", TERM: "dumb" };
}
