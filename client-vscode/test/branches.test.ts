import assert from "node:assert/strict";
import { test } from "node:test";

import { BranchModel } from "../src/branches/model";
import type { TreeNode } from "../src/protocol.gen";

/** Nodes from `parent>child` pairs; a root is written `>id`. */
function nodes(...pairs: string[]): TreeNode[] {
  const links = pairs.map((pair) => pair.split(">") as [string, string]);
  return links.map(([parent, id]) => ({
    id,
    parentId: parent === "" ? null : parent,
    type: "message",
    preview: id,
    timestamp: "2026-01-01T00:00:00Z",
    tokens: 1,
    childCount: links.filter(([above]) => above === id).length,
    onCurrentPath: false,
  }));
}

function model(...pairs: string[]): BranchModel {
  const made = new BranchModel();
  made.add(nodes(...pairs));
  return made;
}

/** The shown tree as nested lists of ids. */
function shown(made: BranchModel, node?: TreeNode): unknown[] {
  return made.children(node).map((child) => {
    const below = shown(made, child);
    return below.length > 0 ? [child.id, ...below] : child.id;
  });
}

const TREES: [string, string[], unknown[]][] = [
  ["nothing", [], []],
  ["a chain is flat", [">a", "a>b", "b>c"], ["a", "b", "c"]],
  ["branches are listed below their fork", [">a", "a>b", "b>c", "b>d"], ["a", ["b", "c", "d"]]],
  ["a branch's chain is listed below its first node", [">a", "a>b", "a>c", "b>d", "d>e"], [["a", ["b", "d", "e"], "c"]]],
  ["a fork whose parent is a fork", [">a", "a>b", "a>c", "b>d", "b>e"], [["a", ["b", "d", "e"], "c"]]],
  ["a fork further down a branch", [">a", "a>b", "a>c", "b>d", "d>e", "d>f"], [["a", ["b", ["d", "e", "f"]], "c"]]],
  ["several roots", [">a", "a>b", ">c"], [["a", "b"], "c"]],
];

for (const [name, pairs, expected] of TREES) {
  test(name, () => { assert.deepEqual(shown(model(...pairs)), expected); });
}

test("each node's parent is the node it is shown below", () => {
  for (const [, pairs] of TREES) {
    const made = model(...pairs);
    const check = (above?: TreeNode): void => {
      for (const child of made.children(above)) {
        assert.equal(made.parent(child)?.id, above?.id, `${child.id} of ${pairs.join(" ")}`);
        check(child);
      }
    };
    check();
  }
});

test("a page that comes later joins its parents, and once", () => {
  const all = nodes(">a", "a>b", "a>c", "b>d");
  const made = new BranchModel();
  made.add(all.slice(0, 2));
  assert.deepEqual(shown(made), [["a", "b"]]);
  made.add(all);
  assert.deepEqual(shown(made), shown(model(">a", "a>b", "a>c", "b>d")));
});

test("ten thousand nodes in a chain are one flat list", () => {
  const pairs = Array.from({ length: 10_000 }, (_, index) => `${index === 0 ? "" : `n${index - 1}`}>n${index}`);
  const made = new BranchModel();
  made.add(pairs.map((pair, index) => {
    const [parent = "", id = ""] = pair.split(">");
    return { id, parentId: parent || null, type: "compaction", preview: "", timestamp: "", tokens: 1, childCount: index < 9999 ? 1 : 0, onCurrentPath: true };
  }));
  assert.equal(made.children().length, 10_000);
});
