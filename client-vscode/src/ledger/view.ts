import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import { Settling } from "../settling";
import { type Fact, type Section, sections } from "./model";

/** In milliseconds. A turn stores entry after entry; the ledger is asked for at most this often. A guess. */
const SETTLE_MS = 1000;

type Element = Section | Fact;

/** The tree view *Ledger*: what is done, open and next in the active conversation, as the server computes it. */
export class LedgerView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #settling = new Settling(SETTLE_MS, () => { this.#changes.fire(undefined); });
  readonly #disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations) {
    this.#client = client;
    this.#conversations = conversations;
    // A view that is folded asks nothing: VS Code calls for children when it is opened.
    const view = vscode.window.createTreeView("coppice.ledger", { treeDataProvider: this, showCollapseAll: true });
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#changes.fire(undefined); }),
      client.onDidChangeState((state) => { if (state === "running") this.#settling.soon(); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
        if (conversationId === conversations.active && (changes.includes("entries") || changes.includes("leaf"))) this.#settling.soon();
      }),
      view,
      this.#settling,
      this.#changes,
    ];
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element !== undefined) return element.kind === "section" ? element.facts : [];
    const conversationId = this.#conversations.active;
    if (conversationId === undefined || !this.#client.isAvailable) return [];
    return sections(await this.#client.request("coppice/ledger", { conversationId }));
  }

  getTreeItem(element: Element): vscode.TreeItem {
    return element.kind === "section" ? sectionItem(element) : factItem(element);
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
  }
}

function sectionItem({ title, facts }: Section): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(title, title === "Done" ? Collapsed : Expanded);
  item.id = title;
  item.description = String(facts.length);
  return item;
}

function factItem(fact: Fact): vscode.TreeItem {
  const { icon, text, detail, entryId } = fact;
  const item = new vscode.TreeItem(text);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.description = detail;
  item.tooltip = detail === "" ? text : `${text}\n${detail}`;
  item.accessibilityInformation = { label: detail === "" ? text : `${text}, ${detail}` };
  if (entryId !== null) item.command = { command: "coppice.ledger.open", title: "Show in the Chat", arguments: [fact] };
  return item;
}

export function registerLedgerCommands(commands: Commands, conversations: Conversations, chat: Chat): void {
  commands.add("coppice.ledger.open", async ({ entryId }: Fact) => {
    await Promise.resolve();
    if (entryId !== null) chat.reveal(conversations.current, entryId);
  });
}
