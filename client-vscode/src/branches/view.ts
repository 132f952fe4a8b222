import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { entryOf, entryText } from "../entries";
import { beforeAndAfter } from "../format";
import type { TreeNode } from "../protocol.gen";
import { treeItem } from "./item";
import { TreeListing } from "./listing";
import { BranchModel } from "./model";
import { type BranchFilter, branchRows } from "./rows";

const PAGE = 1000;
const SETTLE_MS = 300;
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
  #listing: TreeListing | undefined;
  #filter: BranchFilter = "mine";
  #currentId: string | undefined;
  #loading: Promise<void> | undefined;
  #settling: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations) {
    this.#client = client;
    this.#conversations = conversations;
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#reset(); }),
      client.onDidChangeState((state) => { if (state === "running") this.refresh(); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
        if (conversationId !== conversations.active) return;
        // Entries do not change, but for their marks.
        if (changes.includes("labels") || changes.includes("pins")) this.#listing = undefined;
        this.refresh();
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
    const listing = this.#listing;
    await listing?.update(listing.nodes.length + PAGE);
    if (listing !== this.#listing) return;
    this.#build();
    this.#changes.fire(undefined);
  }

  get filter(): BranchFilter {
    return this.#filter;
  }

  show(filter: BranchFilter): void {
    this.#filter = filter;
    this.#build();
    this.#changes.fire(undefined);
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element === MORE) return [];
    if (element !== undefined) return this.#model.children(element);
    this.#loading ??= this.#load();
    await this.#loading;
    const top: Element[] = this.#model.children();
    return this.#listing?.hasMore === true ? [...top, MORE] : top;
  }

  async getTreeItem(element: Element): Promise<vscode.TreeItem> {
    if (element === MORE) return more();
    return treeItem(element, {
      isLeaf: element.id === this.#currentId,
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
    this.#listing = undefined;
    this.#model = new BranchModel();
    this.#gains.clear();
    this.#loading = undefined;
    this.#changes.fire(undefined);
  }

  /** What is shown is exchanged when all of it is there. */
  async #load(): Promise<void> {
    const conversationId = this.#conversations.active;
    if (conversationId === undefined || !this.#client.isAvailable) {
      this.#listing = undefined;
    } else {
      const listing = (this.#listing ??= new TreeListing((after) =>
        this.#client.request("coppice/tree", { conversationId, mode: "all", limit: PAGE, after: after ?? null })));
      await listing.update();
      if (listing !== this.#listing) return;
    }
    this.#build();
  }

  #build(): void {
    const { rows, currentId } = branchRows(this.#listing?.nodes ?? [], this.#listing?.leafId ?? null, this.#filter);
    this.#model = new BranchModel();
    this.#model.add(rows);
    this.#currentId = currentId;
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
