import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { counted, plain } from "../format";
import type { Conversation } from "../protocol.gen";
import { Settling } from "../settling";
import type { Transcript } from "../transcripts/find";
import { notImported, transcriptsHere } from "../transcripts/offered";
import { description, title } from "./model";

const PAGE = 100;
const SETTLE_MS = 300;

/** The element at the end of a list that is not all there. */
const MORE = "more";

/** Sessions of other agents that could be imported. */
interface Offer {
  kind: "offer";
  transcripts: Transcript[];
}

type Element = Conversation | Offer | typeof MORE;

/** The tree view *Conversations*: all of the window's folders, the one changed last first. */
export class ConversationsView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #settling = new Settling(SETTLE_MS, () => { this.#changes.fire(undefined); });
  readonly #disposables: { dispose(): unknown }[];
  #transcripts: Promise<Transcript[]> | undefined;
  #wanted = PAGE;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations) {
    this.#client = client;
    this.#conversations = conversations;
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#settling.soon(); }),
      client.onDidChangeState((state) => { if (state === "running") this.#settling.soon(); }),
      client.onNotification("coppice/conversationChanged", () => { this.#settling.soon(); }),
      vscode.window.createTreeView("coppice.conversations", { treeDataProvider: this }),
      this.#settling,
      this.#changes,
    ];
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element !== undefined || !this.#client.isAvailable) return [];
    const found: Conversation[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#client.request("coppice/conversation/list", { limit: PAGE, cursor: cursor ?? null });
      found.push(...page.conversations);
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < this.#wanted);
    // The sessions of other agents are looked for once: the command that imports them looks again.
    this.#transcripts ??= transcriptsHere();
    const transcripts = notImported(await this.#transcripts, found);
    return [...found, ...(cursor === undefined ? [] : [MORE] as const), ...(transcripts.length === 0 ? [] : [{ kind: "offer" as const, transcripts }])];
  }

  getTreeItem(element: Element): vscode.TreeItem {
    if (element === MORE) return more();
    return "kind" in element ? offer(element) : this.#item(element);
  }

  showMore(): void {
    this.#wanted += PAGE;
    this.#changes.fire(undefined);
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
  }

  #item(conversation: Conversation): vscode.TreeItem {
    const isOpen = conversation.id === this.#conversations.active;
    const item = new vscode.TreeItem(plain(title(conversation)));
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, uri: uri.toString() }));
    const about = description(conversation, folders, Date.now());
    item.id = conversation.id;
    item.iconPath = new vscode.ThemeIcon(isOpen ? "comment-discussion" : "comment");
    item.description = isOpen ? `open · ${about}` : about;
    item.tooltip = `${title(conversation)}\n${about}`;
    item.contextValue = "conversation";
    item.accessibilityInformation = { label: `${title(conversation)}, ${item.description}` };
    item.command = { command: "coppice.conversations.open", title: "Open", arguments: [conversation] };
    return item;
  }
}

function more(): vscode.TreeItem {
  const item = new vscode.TreeItem("Show More…");
  item.command = { command: "coppice.conversations.more", title: "Show More" };
  return item;
}

function offer({ transcripts }: Offer): vscode.TreeItem {
  const agents = [...new Set(transcripts.map(({ agent }) => agent))].join(", ");
  const item = new vscode.TreeItem(`Import from ${agents}…`);
  item.description = `${counted(transcripts.length, "session")} in this workspace`;
  item.iconPath = new vscode.ThemeIcon("cloud-download");
  item.command = { command: "coppice.importConversation", title: "Import Conversation…" };
  return item;
}
