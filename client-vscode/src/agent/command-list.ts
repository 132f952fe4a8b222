import { randomUUID } from "node:crypto";

import type { CommandCall, ListedCommand } from "./listed-command";
import type { RunningCommand } from "./process";

/** Milliseconds between two reports of a command's output. */
const REPORT_MS = 150;

interface Kept extends CommandCall {
  running: RunningCommand;
  isLeft: boolean;
}

/** The commands of this window that run. */
export class CommandList {
  readonly #commands = new Map<string, Kept>();
  readonly #listeners = new Set<() => void>();
  #reporting: NodeJS.Timeout | undefined;

  all(): ListedCommand[] {
    return [...this.#commands].map(([id, { running, ...state }]) => ({ id, ...state, tail: running.tail }));
  }

  /** Lists a command until its process has ended. */
  add(call: CommandCall, running: RunningCommand): void {
    const id = randomUUID();
    this.#commands.set(id, { ...call, running, isLeft: false });
    this.#report();
    void running.exited.catch(() => undefined).then(() => {
      this.#commands.delete(id);
      this.#report();
    });
  }

  /** A command has printed something. */
  noteOutput(): void {
    this.#reporting ??= setTimeout(() => { this.#report(); }, REPORT_MS);
  }

  /** The turn goes on, and the command runs on until it ends or is ended. */
  leave(id: string): void {
    const command = this.#commands.get(id);
    if (command === undefined || command.isLeft) return;
    command.isLeft = true;
    command.running.leave();
    this.#report();
  }

  end(id: string): void {
    this.#commands.get(id)?.running.stop();
  }

  /** Ends the commands that a turn waits for, or, where there is none, those that were left running. */
  interrupt(): void {
    const all = [...this.#commands.values()];
    const awaited = all.filter(({ isLeft }) => !isLeft);
    for (const { running } of awaited.length > 0 ? awaited : all) running.stop();
  }

  endAll(): void {
    for (const { running } of this.#commands.values()) running.stop();
  }

  write(typed: string): void {
    for (const { running } of this.#commands.values()) running.write(typed);
  }

  get isEmpty(): boolean {
    return this.#commands.size === 0;
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  #report(): void {
    clearTimeout(this.#reporting);
    this.#reporting = undefined;
    for (const listener of this.#listeners) listener();
  }
}
