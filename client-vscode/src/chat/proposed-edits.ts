import { basename } from "node:path";

import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { Feature } from "./feature";
import type { FromPage } from "./messages";

const SCHEME = "coppice-edit";

interface Stored {
  bytes: Uint8Array;
  /** VS Code asks before it saves over a file that is newer than what it has read. */
  mtime: number;
}

/**
 * Edits that wait for approval: each can be opened next to the file, and what is written there is what is applied. The
 * documents are in memory, so that nothing is left of a secret, and nobody is asked where to save them.
 */
export class ProposedEdits implements Feature, vscode.FileSystemProvider, vscode.Disposable {
  readonly #files = new Map<string, Stored>();
  /** By approval, with the text that it had when it was opened. */
  readonly #documents = new Map<string, { document: vscode.TextDocument; proposed: string }>();
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #disposables: { dispose(): unknown }[];

  readonly onDidChangeFile = this.#changes.event;

  constructor(private readonly approvals: Approvals) {
    approvals.changedText = (id) => this.#changedText(id);
    this.#disposables = [
      this.#changes,
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      approvals.onDidChange(() => {
        const waiting = new Set(approvals.pending().map(({ id }) => id));
        for (const id of this.#documents.keys()) if (!waiting.has(id)) void this.#close(id);
      }),
    ];
  }

  greet(): void {
    // The edits are among the approvals.
  }

  async handle(message: FromPage): Promise<boolean> {
    if (message.type !== "openEdit") return false;
    await this.#open(message.id);
    return true;
  }

  async #open(id: string): Promise<void> {
    const proposal = this.approvals.proposedText(id);
    if (proposal === undefined) return;
    const { path, before, after } = proposal;
    const at = (side: string): vscode.Uri => vscode.Uri.from({ scheme: SCHEME, path: `/${id}/${side}/${basename(path)}` });
    const uri = at("after");
    if (!this.#documents.has(id)) {
      for (const [place, text] of [[at("before"), before ?? ""], [uri, after]] as const) this.#files.set(place.path, { bytes: new TextEncoder().encode(text), mtime: 0 });
      const document = await vscode.workspace.openTextDocument(uri, { encoding: "utf8" });
      this.#documents.set(id, { document, proposed: document.getText() });
    }
    await vscode.commands.executeCommand("vscode.diff", at("before"), uri, `${basename(path)}: Proposed Edit`, { preview: false });
  }

  /** What the user has made of an edit; undefined where it is the model's. */
  #changedText(id: string): string | undefined {
    const open = this.#documents.get(id);
    if (open === undefined) return undefined;
    const { document, proposed } = open;
    const text = document.isClosed ? new TextDecoder().decode(this.#stored(document.uri).bytes) : document.getText();
    return text === proposed ? undefined : text;
  }

  /** What is saved is closed without a question. */
  async #close(id: string): Promise<void> {
    const open = this.#documents.get(id);
    this.#documents.delete(id);
    if (open === undefined) return;
    const { document } = open;
    if (!document.isClosed && document.isDirty) await document.save();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === document.uri.toString()), true);
    for (const side of ["before", "after"]) this.#files.delete(document.uri.path.replace("/after/", `/${side}/`));
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { bytes, mtime } = this.#stored(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime, size: bytes.length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#stored(uri).bytes;
  }

  writeFile(uri: vscode.Uri, bytes: Uint8Array): void {
    const { mtime } = this.#stored(uri);
    this.#files.set(uri.path, { bytes, mtime: mtime + 1 });
    this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
  }

  #stored(uri: vscode.Uri): Stored {
    const stored = this.#files.get(uri.path);
    if (stored === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return stored;
  }
}
