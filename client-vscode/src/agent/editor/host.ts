import * as vscode from "vscode";

import { notify } from "../../notify";
import type { CommandList } from "../command-list";
import type { CommandRun, Host } from "../host";
import { isSamePath } from "../paths";
import { WorkspaceSnapshots } from "../../snapshots/workspace";
import { MadeEdits } from "../made";
import type { ErrorWatch } from "../file-errors";
import { mostOutput } from "../output";
import type { Outcome } from "../process";
import type { UndoHost } from "../undo";
import { watchErrors } from "./errors";
import { readText, removeFile, writeText } from "./files";
import { findRipgrep } from "./ripgrep";
import { CommandTerminal } from "./terminal";

const KEY = "coppice.made";

/** The editor as the tools see it. */
export class EditorHost implements Host, UndoHost, vscode.Disposable {
  readonly #terminal = new CommandTerminal(() => this.folders);
  readonly made: MadeEdits;
  readonly confirm = notify.confirm;

  readonly snapshots: WorkspaceSnapshots;

  /** `storage` is a folder of the extension's own, `windowOf` the window of a conversation's model in tokens. */
  constructor(memory: vscode.Memento, storage: string, private readonly windowOf: (conversationId: string) => number | undefined, warn: (message: string) => void) {
    const isUnsaved = (path: string): boolean => vscode.workspace.textDocuments.some(({ uri, isDirty }) => isDirty && uri.scheme === "file" && isSamePath(uri.fsPath, path));
    const isTrusted = (): boolean => this.isTrusted;
    const folders = (): string[] => this.folders;
    this.snapshots = new WorkspaceSnapshots(storage, { get folders() { return folders(); }, get isTrusted() { return isTrusted(); }, isUnsaved, warn });
    this.made = new MadeEdits({ read: () => memory.get(KEY, []), write: (hashes) => void memory.update(KEY, hashes) });
  }

  get folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  }

  get isTrusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  ripgrep(): Promise<string> {
    return findRipgrep(vscode.env.appRoot, this.folders);
  }

  read(path: string): Promise<string | null> {
    return readText(path);
  }

  write(path: string, text: string): Promise<string> {
    return writeText(path, text);
  }

  remove(path: string): Promise<void> {
    return removeFile(path);
  }

  watchErrors(path: string): ErrorWatch {
    return watchErrors(path);
  }

  recordState(conversationId: string): Promise<string | undefined> {
    return this.snapshots.take(conversationId);
  }

  run(command: CommandRun, stop: AbortSignal): Promise<Outcome> {
    return this.#terminal.run(command, mostOutput(this.windowOf(command.conversationId)), stop);
  }

  get commands(): CommandList {
    return this.#terminal.commands;
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}
