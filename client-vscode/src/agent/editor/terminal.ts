import * as vscode from "vscode";

import { CommandList } from "../command-list";
import type { CommandRun } from "../host";
import { type Command, commandHead, type Outcome, RunningCommand } from "../process";
import { shellOutside } from "../shell";

const NAME = "Coppice";
const CTRL_C = "\u0003";

/**
 * The terminal in which a person sees the commands of models. It runs them itself: a shell's integration is missing in
 * many shells, and its exit codes with it. What is typed goes to the command that runs; Ctrl+C ends it.
 */
export class CommandTerminal implements vscode.Disposable {
  #terminal: vscode.Terminal | undefined;
  #output = new vscode.EventEmitter<string>();
  #opened: Promise<void> = Promise.resolve();
  readonly commands = new CommandList();

  constructor(private readonly folders: () => readonly string[]) {}

  /** `limit`: characters of output that the outcome holds. */
  async run({ cwd, timeoutMs, program, ...call }: CommandRun, limit: number, stop: AbortSignal): Promise<Outcome> {
    stop.throwIfAborted();
    const command = { command: call.command, program, cwd, timeoutMs, limit };
    // A file that nobody was asked about writes nothing to a terminal, where control sequences act.
    const running = program === undefined ? await this.#start(command, stop) : new RunningCommand(command, () => { this.commands.noteOutput(); });
    const end = (): void => { running.stop(); };
    stop.addEventListener("abort", end);
    this.commands.add(call, running);
    try {
      return await running.done;
    } finally {
      stop.removeEventListener("abort", end);
    }
  }

  async #start(command: Command, stop: AbortSignal): Promise<RunningCommand> {
    this.#terminal ??= this.#open();
    this.#terminal.show(true);
    await this.#opened;
    const shell = await shellOutside(vscode.env.shell, this.folders());
    stop.throwIfAborted();
    this.#print(commandHead(command.cwd, command.command));
    const running = new RunningCommand({ ...command, shell }, (text) => {
      this.#print(text);
      this.commands.noteOutput();
    });
    void running.exited.then(
      ({ exitCode, ending }) => { this.#print(`\u001b[${exitCode === 0 ? 32 : 31}m[${exitCode === undefined ? ending : `exit code ${exitCode}`}]\u001b[0m\n\n`); },
      () => undefined,
    );
    return running;
  }

  dispose(): void {
    this.commands.endAll();
    this.#terminal?.dispose();
    this.#output.dispose();
  }

  #open(): vscode.Terminal {
    this.#output = new vscode.EventEmitter<string>();
    let isOpen: () => void = () => undefined;
    this.#opened = new Promise((resolve) => { isOpen = resolve; });
    return vscode.window.createTerminal({
      name: NAME,
      iconPath: new vscode.ThemeIcon("hubot"),
      pty: {
        onDidWrite: this.#output.event,
        open: () => { isOpen(); },
        close: () => {
          this.#terminal = undefined;
          this.commands.endAll();
        },
        handleInput: (typed: string) => {
          if (typed === CTRL_C) this.commands.interrupt();
          else this.#type(typed.replaceAll("\r", "\n"));
        },
      },
    });
  }

  #type(typed: string): void {
    if (this.commands.isEmpty) return;
    this.#print(typed);
    this.commands.write(typed);
  }

  #print(text: string): void {
    this.#output.fire(text.replace(/\r?\n/g, "\r\n"));
  }
}
