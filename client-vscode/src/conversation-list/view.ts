import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Activities } from "../chat/activity";
import type { Conversations } from "../conversations";
import { plain } from "../format";
import type { Conversation } from "../protocol.gen";
import { Settling } from "../settling";
import { agent, description, isBegun, title } from "./model";
import type { Sources } from "./sources";

const PAGE = 100;
const SETTLE_MS = 300;

/** The element at the end of a list that is not all there. */
const MORE = "more";

type Element = Conversation | typeof MORE;

/** The tree view *Conversations*: all of the window's folders, other agents' too, the one changed last first. */
export class ConversationsView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #activities: Activities;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #settling = new Settling(SETTLE_MS, () => { this.#changes.fire(undefined); });
  readonly #disposables: { dispose(): unknown }[];
  #wanted = PAGE;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations, sources: Sources, activities: Activities) {
    this.#client = client;
    this.#conversations = conversations;
    this.#activities = activities;
    const view = vscode.window.createTreeView("coppice.conversations", { treeDataProvider: this });
    const read = (): void => { if (view.visible) void sources.read(); };
    this.#disposables = [
      view,
      view.onDidChangeVisibility(read),
      vscode.window.onDidChangeWindowState(({ focused }) => { if (focused) read(); }),
      activities.onDidChange(() => { this.#settling.soon(); }),
      conversations.onDidChangeActive(() => { this.#settling.soon(); }),
      client.onDidChangeState((state) => { if (state === "running") { this.#settling.soon(); read(); } }),
      client.onNotification("coppice/conversationChanged", () => { this.#settling.soon(); }),
      this.#settling,
      this.#changes,
    ];
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element !== undefined || !this.#client.isAvailable) return [];
    const shown: Conversation[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#client.request("coppice/conversation/list", { limit: PAGE, cursor: cursor ?? null });
      shown.push(...page.conversations.filter((each) => isBegun(each) || each.id === this.#conversations.active));
      cursor = page.nextCursor;
    } while (cursor !== undefined && shown.length < this.#wanted);
    return [...shown, ...(cursor === undefined ? [] : [MORE] as const)];
  }

  getTreeItem(element: Element): vscode.TreeItem {
    return element === MORE ? more() : this.#item(element);
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
    const activity = this.#activities.of(conversation.id);
    const about = [activity && WORDS[activity], description(conversation, folders, Date.now())].filter((part) => part !== undefined).join(" · ");
    item.id = conversation.id;
    item.iconPath = activity !== undefined ? ICONS[activity] : new vscode.ThemeIcon(isOpen ? "comment-discussion" : agent(conversation) === undefined ? "comment" : "history");
    item.description = isOpen ? `open · ${about}` : about;
    item.tooltip = `${title(conversation)}\n${about}`;
    item.contextValue = "conversation";
    item.accessibilityInformation = { label: `${title(conversation)}, ${item.description}` };
    item.command = { command: "coppice.conversations.open", title: "Open", arguments: [conversation] };
    return item;
  }
}

const WORDS = { waiting: "waits for approval", running: "running" };
const ICONS = {
  waiting: new vscode.ThemeIcon("bell-dot", new vscode.ThemeColor("list.warningForeground")),
  running: new vscode.ThemeIcon("loading~spin"),
};

function more(): vscode.TreeItem {
  const item = new vscode.TreeItem("Show More…");
  item.command = { command: "coppice.conversations.more", title: "Show More" };
  return item;
}
