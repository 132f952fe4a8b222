import assert from "node:assert/strict";
import { test } from "node:test";

import { TreeListing } from "../src/branches/listing";
import type { TreeNode, TreeResult } from "../src/protocol.gen";

/** A server's tree: entries with their parents, in the order in which they were stored. */
class Tree {
  readonly entries: [id: string, parentId: string | null][] = [];
  leafId: string | null = null;
  readonly asked: (string | undefined)[] = [];

  constructor(private readonly page: number) {}

  readonly read = (after: string | undefined): Promise<TreeResult> => {
    this.asked.push(after);
    const path = new Set<string | null>();
    for (let at = this.leafId; at !== null; at = this.entries.find(([id]) => id === at)?.[1] ?? null) path.add(at);
    const from = this.entries.findIndex(([id]) => id === after) + 1;
    const nodes = this.entries.slice(from, from + this.page).map(([id, parentId]): TreeNode => (
      { id, parentId, type: "message", role: "user", preview: id, timestamp: "", tokens: 1, childCount: 0, onCurrentPath: path.has(id) }
    ));
    const last = nodes.at(-1)?.id;
    return Promise.resolve({ nodes, leafId: this.leafId, ...(from + this.page < this.entries.length && last !== undefined ? { nextAfter: last } : {}) });
  };

  put(id: string, parentId: string | null): void {
    this.entries.push([id, parentId]);
    this.leafId = id;
  }
}

const onPath = ({ nodes }: TreeListing): string => nodes.filter((node) => node.onCurrentPath).map(({ id }) => id).join("");

test("only what is new is read, and the path follows the leaf", async () => {
  const tree = new Tree(2);
  for (const [id, parent] of [["a", null], ["b", "a"], ["c", "b"], ["d", "a"]] as const) tree.put(id, parent);
  const listing = new TreeListing(tree.read);
  await listing.update();
  assert.deepEqual(tree.asked, [undefined, "b"]);
  assert.equal(onPath(listing), "ad");
  tree.put("e", "d");
  await listing.update();
  assert.deepEqual(tree.asked.slice(2), ["d"]);
  assert.equal(onPath(listing), "ade");
  tree.leafId = "c";
  await listing.update();
  assert.deepEqual([onPath(listing), listing.leafId], ["abc", "c"]);
  tree.leafId = null;
  await listing.update();
  assert.equal(onPath(listing), "");
});

test("of a tree that is too large a part is listed, and more on demand", async () => {
  const tree = new Tree(10);
  for (let at = 0; at < 95; at += 1) tree.put(`n${at}`, at === 0 ? null : `n${at - 1}`);
  const listing = new TreeListing(tree.read);
  await listing.update(30);
  assert.deepEqual([listing.nodes.length, listing.hasMore, listing.leafId], [30, true, "n94"]);
  assert.ok(listing.nodes.every((node) => node.onCurrentPath));
  await listing.update(200);
  assert.deepEqual([listing.nodes.length, listing.hasMore], [95, false]);
});
