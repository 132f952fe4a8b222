import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { entryOf, entryText } from "../entries";
import { beforeAndAfter } from "../format";
import type { TreeNode, TreeResult } from "../protocol.gen";
import { treeItem } from "./item";
import { BranchModel } from "./model";

const PAGE = 200;
const SETTLE_MS = 150;
const TOOLTIP_LENGTH = 1500;

/** The element at the end of a list that is not all there. */
const MORE = "more";
type Element = TreeNode | typeof MORE;

/** The tree view *Branches* of the active conversation. */
export class BranchesView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #disposables: { dispose(): unknown }[];
  readonly #gains = new Map<string, string>();
  #model = new BranchModel();
  #leafId: string | null = null;
  #nextAfter: string | undefined;
  #loading: Promise<void> | undefined;
  #settling: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations) {
    this.#client = client;
    this.#conversations = conversations;
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#reset(); }),
      client.onDidChangeState((state) => { if (state === "running") this.refresh(); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId }) => {
        if (conversationId === conversations.active) this.refresh();
      }),
      vscode.window.createTreeView("coppice.branches", { treeDataProvider: this, showCollapseAll: true }),
      this.#changes,
    ];
  }

  /** Asks the server anew, a moment later: changes come in swarms. */
  refresh(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#loading = undefined;
      this.#changes.fire(undefined);
    }, SETTLE_MS);
  }

  async showMore(): Promise<void> {
    const model = this.#model;
    const page = await this.#page(this.#conversations.active, this.#nextAfter);
    if (model !== this.#model) return;
    model.add(page.nodes);
    this.#nextAfter = page.nextAfter;
    this.#changes.fire(undefined);
  }

  /** The node of an entry, where it has been listed. */
  node(id: string): TreeNode | undefined {
    return this.#model.get(id);
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element === MORE) return [];
    if (element !== undefined) return this.#model.children(element);
    this.#loading ??= this.#loadAnew();
    await this.#loading;
    const top: Element[] = this.#model.children();
    return this.#nextAfter === undefined ? top : [...top, MORE];
  }

  async getTreeItem(element: Element): Promise<vscode.TreeItem> {
    if (element === MORE) return more();
    return treeItem(element, {
      isLeaf: element.id === this.#leafId,
      isFork: this.#model.isFork(element),
      hasChildren: this.#model.hasChildren(element),
      gain: element.type === "compaction" ? await this.#gain(element.id) : undefined,
    });
  }

  getParent(element: Element): TreeNode | undefined {
    return element === MORE ? undefined : this.#model.parent(element);
  }

  async resolveTreeItem(item: vscode.TreeItem, element: Element): Promise<vscode.TreeItem> {
    const conversationId = this.#conversations.active;
    if (element === MORE || conversationId === undefined) return item;
    const entry = await entryOf(this.#client, conversationId, element.id);
    const text = entryText(entry);
    item.tooltip = text.length > TOOLTIP_LENGTH ? `${text.slice(0, TOOLTIP_LENGTH)}…` : text;
    return item;
  }

  dispose(): void {
    clearTimeout(this.#settling);
    for (const each of this.#disposables) each.dispose();
  }

  #reset(): void {
    this.#model = new BranchModel();
    this.#gains.clear();
    this.#nextAfter = undefined;
    this.#loading = undefined;
    this.#changes.fire(undefined);
  }

  /** As much as was shown before, from the start. What is shown is exchanged when all of it is there. */
  async #loadAnew(): Promise<void> {
    const wanted = Math.max(this.#model.size, PAGE);
    const conversationId = this.#conversations.active;
    const model = new BranchModel();
    let page = await this.#page(conversationId, undefined);
    model.add(page.nodes);
    while (page.nextAfter !== undefined && model.size < wanted) {
      page = await this.#page(conversationId, page.nextAfter);
      model.add(page.nodes);
    }
    if (conversationId !== this.#conversations.active) return;
    this.#model = model;
    this.#leafId = page.leafId;
    this.#nextAfter = page.nextAfter;
  }

  async #page(conversationId: string | undefined, after: string | undefined): Promise<TreeResult> {
    if (conversationId === undefined || this.#client.state === "failed") return { nodes: [], leafId: null };
    return this.#client.request("coppice/tree", { conversationId, mode: "branches", limit: PAGE, after: after ?? null });
  }

  async #gain(entryId: string): Promise<string | undefined> {
    const known = this.#gains.get(entryId);
    const conversationId = this.#conversations.active;
    if (known !== undefined || conversationId === undefined) return known;
    const entry = await entryOf(this.#client, conversationId, entryId);
    if (entry.type !== "compaction" || typeof entry.tokensBefore !== "number" || typeof entry.tokensAfter !== "number") return undefined;
    const gain = beforeAndAfter(entry.tokensBefore, entry.tokensAfter);
    this.#gains.set(entryId, gain);
    return gain;
  }
}

function more(): vscode.TreeItem {
  const item = new vscode.TreeItem("Show More…");
  item.command = { command: "coppice.branches.more", title: "Show More" };
  return item;
}
