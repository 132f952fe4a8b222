import * as vscode from "vscode";

import type { Host } from "../host";
import type { Outcome } from "../process";
import { readText, writeText } from "./files";
import { findRipgrep } from "./ripgrep";
import { CommandTerminal } from "./terminal";

/** The editor as the tools see it. */
export class EditorHost implements Host, vscode.Disposable {
  readonly #terminal = new CommandTerminal();
  readonly ripgrep = findRipgrep(vscode.env.appRoot);

  get folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  }

  get isTrusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  read(path: string): Promise<string | null> {
    return readText(path);
  }

  write(path: string, text: string): Promise<string> {
    return writeText(path, text);
  }

  run(command: string, cwd: string, timeoutMs: number, stop: AbortSignal): Promise<Outcome> {
    return this.#terminal.run(command, cwd, timeoutMs, stop);
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}
