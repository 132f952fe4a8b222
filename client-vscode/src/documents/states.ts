import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { entryText } from "../entries";
import { visible } from "../format";
import { isLeftOut, type StoredFile } from "../snapshots/store";
import type { PlacedDifference, WorkspaceSnapshots } from "../snapshots/workspace";

const SCHEME = "coppice-state";
/** Entries that are looked through for the last reply. A guess: more than follow one. */
const MOST_ENTRIES = 50;

type Source = { kind: "file"; folder: string; file: StoredFile } | { kind: "reply"; conversationId: string; leafId?: string };

/** Files as a recorded state has them, and last replies of branches, as documents to compare. Each is named by what it shows. */
export class StateDocuments implements vscode.Disposable, vscode.TextDocumentContentProvider {
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  constructor(
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
  ) {}

  /** The files that differ, together in the editor's view of several differences. `replies`: those of both sides. */
  async show(title: string, differences: readonly PlacedDifference[], replies: readonly vscode.Uri[] = []): Promise<void> {
    const outcome = replies.length === 2 ? [[vscode.Uri.from({ scheme: SCHEME, path: "/Last reply.md" }), ...replies]] : [];
    const files = differences.map(({ folder, shown, change: { from, to } }) => [this.#file(folder, shown, to ?? from), from && this.#file(folder, shown, from), to && this.#file(folder, shown, to)]);
    await vscode.commands.executeCommand("vscode.changes", title, [...outcome, ...files]);
  }

  /** The last reply of the branch that ends at the entry. */
  lastReply(conversationId: string, leafId: string | undefined): vscode.Uri {
    return address("Last reply.md", { kind: "reply", conversationId, ...(leafId === undefined ? {} : { leafId }) });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.query === "") return "";
    const source = JSON.parse(uri.query) as Source;
    return source.kind === "file" ? this.#text(source) : this.#reply(source);
  }

  dispose(): void {
    this.#registration.dispose();
  }

  #file(folder: string, shown: string, file: StoredFile | undefined): vscode.Uri {
    return address(shown, file && { kind: "file", folder, file });
  }

  async #text({ folder, file }: Extract<Source, { kind: "file" }>): Promise<string> {
    if (isLeftOut(file)) return "This file was too large to be recorded.\n";
    const bytes = await this.snapshots.content(folder, file);
    if (file.mode === "120000") return `Link to ${bytes.toString()}\n`;
    return bytes.includes(0) ? `Binary file, ${bytes.length.toLocaleString("en")} bytes, ${file.id.slice(0, 12)}\n` : bytes.toString();
  }

  async #reply({ conversationId, leafId }: Extract<Source, { kind: "reply" }>): Promise<string> {
    const { entries } = await this.client.request("coppice/entries", { conversationId, backward: true, limit: MOST_ENTRIES, ...(leafId === undefined ? {} : { leafId }) });
    const reply = entries.findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
    return reply === undefined ? "" : visible(entryText(reply));
  }
}

function address(name: string, source: Source | undefined): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: source === undefined ? "" : JSON.stringify(source) });
}
