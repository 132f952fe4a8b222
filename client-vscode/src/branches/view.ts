import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { entryOf, entryText } from "../entries";
import { beforeAndAfter } from "../format";
import type { BranchDifferences } from "./differences";
import { ChangedFiles } from "./changed";
import { treeItem } from "./item";
import { TreeListing } from "./listing";
import { BranchModel } from "./model";
import { type BranchFilter, type BranchRow, branchRows } from "./rows";

const PAGE = 1000;
const SETTLE_MS = 300;
const TOOLTIP_LENGTH = 1500;

/** The element at the end of a list that is not all there. */
const MORE = "more";
type Element = BranchRow | typeof MORE;

/** The tree view *Branches* of the active conversation. */
export class BranchesView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #changes = new vscode.EventEmitter<Element | undefined>();
  readonly #disposables: { dispose(): unknown }[];
  readonly #gains = new Map<string, string>();
  readonly #view: vscode.TreeView<Element>;
  /** By row with others below it, whether those are hidden. */
  readonly #folds = new Map<string, boolean>();
  readonly #changed: ChangedFiles;
  #model = new BranchModel<BranchRow>();
  #listing: TreeListing | undefined;
  #filter: BranchFilter = "mine";
  #currentId: string | undefined;
  #loading: Promise<void> | undefined;
  /** The rows that the current one is below. */
  #aboveCurrent: ReadonlySet<string> = new Set();
  #settling: NodeJS.Timeout | undefined;
  #following: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations, differences: BranchDifferences) {
    this.#client = client;
    this.#conversations = conversations;
    this.#changed = new ChangedFiles(
      async (id) => conversations.active && differences.summary(conversations.active, id),
      (id) => { this.#redraw(id); },
    );
    this.#view = vscode.window.createTreeView<Element>("coppice.branches", { treeDataProvider: this, showCollapseAll: true });
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#reset(); }),
      client.onDidChangeState((state) => { if (state === "running") this.refresh(); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
        if (conversationId !== conversations.active) return;
        // Entries do not change, but for their marks.
        if (changes.includes("labels") || changes.includes("pins")) this.#listing = undefined;
        this.refresh();
      }),
      this.#view,
      this.#view.onDidCollapseElement(({ element }) => { this.#fold(element, true); }),
      this.#view.onDidExpandElement(({ element }) => { this.#fold(element, false); }),
      this.#view.onDidChangeVisibility(() => { this.#follow(); }),
      this.#changes,
    ];
  }

  /** Asks the server anew, a moment later: changes come in swarms. */
  refresh(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      void this.#renew();
    }, SETTLE_MS);
  }

  /** While the editor waits for new rows it has none, and the entries of an open menu do nothing: they are read before. */
  async #renew(): Promise<void> {
    const loading = this.#view.visible ? this.#load() : undefined;
    this.#loading = loading;
    await loading?.catch(() => undefined); // getChildren throws it.
    if (this.#loading === loading) this.#changes.fire(undefined);
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

  /** Whether there is something below a row, and it is hidden. */
  isFolded(row: BranchRow): boolean {
    return this.#model.hasChildren(row) && this.#folds.get(row.id) === true;
  }

  /** Scrolls to the current row, and opens what it is in. */
  async reveal(): Promise<void> {
    const row = this.#currentId === undefined ? undefined : this.#model.get(this.#currentId);
    if (row === undefined || !this.#view.visible) return;
    try {
      await this.#view.reveal(row, { select: true, focus: false });
    } catch {
      // The editor has not taken the row yet; it is revealed with the next change.
    }
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
    const { id, isAlternative, onCurrentPath } = element;
    const hasChildren = this.#model.hasChildren(element);
    // From now on the editor keeps what it was given first, until the user opens or folds the row.
    if (hasChildren && !this.#folds.has(id)) this.#folds.set(id, !onCurrentPath);
    return treeItem(element, {
      isLeaf: id === this.#currentId,
      isFork: this.#model.isFork(element),
      hasChildren,
      gain: element.type === "compaction" ? await this.#gain(id) : undefined,
      changed: isAlternative ? this.#changed.of(id) : undefined,
      holdsCurrent: this.#aboveCurrent.has(id) && this.isFolded(element),
    });
  }

  getParent(element: Element): BranchRow | undefined {
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
    clearTimeout(this.#following);
    for (const each of this.#disposables) each.dispose();
  }

  #reset(): void {
    this.#listing = undefined;
    this.#model = new BranchModel();
    this.#currentId = undefined;
    this.#aboveCurrent = new Set();
    this.#gains.clear();
    this.#folds.clear();
    this.#changed.clear();
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
    const [before, beforeId] = [this.#model, this.#currentId];
    this.#model = new BranchModel();
    this.#model.add(rows);
    this.#currentId = currentId;
    const above = new Set<string>();
    for (let at = currentId === undefined ? undefined : this.#model.get(currentId); at !== undefined; at = this.#model.parent(at)) above.add(at.id);
    above.delete(currentId ?? "");
    this.#aboveCurrent = above;
    // What the conversation is on goes on, and what it left was recorded anew.
    this.#changed.readAgain(rows.filter(({ id, onCurrentPath }) => onCurrentPath || before.get(id)?.onCurrentPath === true).map(({ id }) => id));
    for (const id of this.#folds.keys()) if (this.#model.get(id) === undefined) this.#folds.delete(id);
    if (currentId !== beforeId) this.#follow(beforeId !== undefined && this.#model.get(beforeId)?.onCurrentPath !== true);
  }

  /** Scrolls to the row that became the current one, and opens what it is in where that is another branch. */
  #follow(hasSwitched = false): void {
    clearTimeout(this.#following);
    // When the editor has taken the rows.
    this.#following = setTimeout(() => {
      if (hasSwitched || ![...this.#aboveCurrent].some((id) => this.#folds.get(id) === true)) void this.reveal();
    }, SETTLE_MS);
  }

  #fold(element: Element, isFolded: boolean): void {
    if (element === MORE) return;
    this.#folds.set(element.id, isFolded);
    if (this.#aboveCurrent.has(element.id)) this.#redraw(element.id);
  }

  #redraw(id: string): void {
    const row = this.#model.get(id);
    if (row !== undefined) this.#changes.fire(row);
  }

  async #gain(entryId: string): Promise<string | undefined> {
    const computed = this.#gains.get(entryId);
    const conversationId = this.#conversations.active;
    if (computed !== undefined || conversationId === undefined) return computed;
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
