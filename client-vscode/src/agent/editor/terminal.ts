import * as vscode from "vscode";

import { commandHead, type Outcome, RunningCommand } from "../process";

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
  readonly #running = new Set<RunningCommand>();

  async run(command: string, cwd: string, timeoutMs: number, stop: AbortSignal): Promise<Outcome> {
    this.#terminal ??= this.#open();
    this.#terminal.show(true);
    await this.#opened;
    stop.throwIfAborted();
    this.#print(commandHead(cwd, command));
    const shell = vscode.env.shell === "" ? undefined : vscode.env.shell;
    const running = new RunningCommand({ command, cwd, shell, timeoutMs }, (text) => { this.#print(text); });
    const end = (): void => { running.stop(); };
    stop.addEventListener("abort", end);
    this.#running.add(running);
    try {
      const outcome = await running.done;
      const color = outcome.exitCode === 0 ? 32 : 31;
      this.#print(`\u001b[${color}m[${outcome.exitCode === undefined ? outcome.ending : `exit code ${outcome.exitCode}`}]\u001b[0m\n\n`);
      return outcome;
    } finally {
      this.#running.delete(running);
      stop.removeEventListener("abort", end);
    }
  }

  dispose(): void {
    this.#stop();
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
          this.#stop();
        },
        handleInput: (typed: string) => {
          if (typed === CTRL_C) this.#stop();
          else this.#type(typed.replaceAll("\r", "\n"));
        },
      },
    });
  }

  #type(typed: string): void {
    if (this.#running.size === 0) return;
    this.#print(typed);
    for (const each of this.#running) each.write(typed);
  }

  #stop(): void {
    for (const each of this.#running) each.stop();
  }

  #print(text: string): void {
    this.#output.fire(text.replace(/\r?\n/g, "\r\n"));
  }
}
