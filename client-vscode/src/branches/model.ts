import type { TreeNode } from "../protocol.gen";

/**
 * The tree as it is shown. An unbranched chain of nodes is a flat list, however long it is; only where the
 * conversation forks are the branches put below the fork, each with the rest of its chain below its first node. So
 * depth grows with forks alone.
 */
export class BranchModel<Node extends TreeNode = TreeNode> {
  readonly #nodes = new Map<string, Node>();
  readonly #below = new Map<string | null, Node[]>();

  /** Adds a page of the listing, in which parents come before their children. */
  add(nodes: Node[]): void {
    for (const node of nodes) {
      if (this.#nodes.has(node.id)) continue;
      this.#nodes.set(node.id, node);
      const siblings = this.#below.get(node.parentId);
      if (siblings === undefined) this.#below.set(node.parentId, [node]);
      else siblings.push(node);
    }
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  /** What is on the top level, or below a node. */
  children(node?: Node): Node[] {
    if (node === undefined) {
      const roots = this.#below.get(null) ?? [];
      const [only] = roots;
      return roots.length === 1 && only !== undefined ? [only, ...this.#rest(only)] : roots;
    }
    if (this.#isFork(node)) return this.#branches(node);
    return this.#isHead(node) ? this.#rest(node) : [];
  }

  /** The node that `node` is shown below. */
  parent(node: Node): Node | undefined {
    const above = this.#above(node);
    if (above === undefined || this.#isFork(above)) return above;
    let head = above;
    for (let next = this.#above(head); next !== undefined && !this.#isFork(next); next = this.#above(head)) head = next;
    return this.#isHead(head) ? head : undefined;
  }

  /** Whether the conversation goes on in several ways after this node. */
  isFork(node: Node): boolean {
    return this.#isFork(node);
  }

  /** Whether anything that was added is below a node. */
  hasChildren(node: Node): boolean {
    return this.children(node).length > 0;
  }

  /** The chain after `node`, up to and with the next fork or end. */
  #rest(node: Node): Node[] {
    const chain: Node[] = [];
    for (let last = node; !this.#isFork(last);) {
      const [next] = this.#branches(last);
      if (next === undefined) break;
      chain.push(next);
      last = next;
    }
    return chain;
  }

  #branches(node: Node): Node[] {
    return this.#below.get(node.id) ?? [];
  }

  #above(node: Node): Node | undefined {
    return node.parentId === null ? undefined : this.#nodes.get(node.parentId);
  }

  /** Whether a node opens a chain that is shown below it: the first of a branch, or one root of several. */
  #isHead(node: Node): boolean {
    const above = this.#above(node);
    return above === undefined ? (this.#below.get(null) ?? []).length > 1 : this.#isFork(above);
  }

  #isFork(node: Node): boolean {
    return node.childCount > 1 || this.#branches(node).length > 1;
  }
}
