import type { TreeNode, TreeResult } from "../protocol.gen";

/** Reads a page of the tree, from the one after the entry `after` on. */
export type ReadPage = (after: string | undefined) => Promise<TreeResult>;

/** Entries that are listed unasked. A guess: some 60 MB. */
const MOST_LISTED = 200_000;

/** The entries of a tree in the order in which they were stored. Only what is new is read again. */
export class TreeListing {
  readonly #read: ReadPage;
  #nodes: TreeNode[] = [];
  #places = new Map<string, number>();
  #leafId: string | null = null;
  #hasMore = false;

  constructor(read: ReadPage) {
    this.#read = read;
  }

  get nodes(): readonly TreeNode[] {
    return this.#nodes;
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  /** Whether entries are left that were not listed. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Reads what was stored since, at most `most` entries in all, and goes over to the leaf of now. */
  async update(most = MOST_LISTED): Promise<void> {
    do {
      const page = await this.#read(this.#nodes.at(-1)?.id);
      for (const node of page.nodes) {
        if (this.#places.has(node.id)) continue; // Read by another update meanwhile.
        this.#places.set(node.id, this.#nodes.length);
        this.#nodes.push(node);
      }
      this.#leafId = page.leafId;
      this.#hasMore = page.nextAfter !== undefined;
    } while (this.#hasMore && this.#nodes.length < most);
    this.#followLeaf();
  }

  /** Which entries are on the path to the leaf, as far as that is listed. */
  #followLeaf(): void {
    let at = this.#leafId === null ? undefined : this.#places.get(this.#leafId);
    // Of a leaf that is not listed only the server knows the path; it was sent with the entries.
    if (at === undefined && this.#leafId !== null) return;
    const path = new Set<number>();
    while (at !== undefined) {
      path.add(at);
      const parentId: string | null = this.#nodes[at]?.parentId ?? null;
      at = parentId === null ? undefined : this.#places.get(parentId);
    }
    for (const [place, node] of this.#nodes.entries()) {
      if (node.onCurrentPath !== path.has(place)) this.#nodes[place] = { ...node, onCurrentPath: !node.onCurrentPath };
    }
  }
}
