import assert from "node:assert/strict";
import { test } from "node:test";

import { type BranchFilter, branchRows } from "../src/branches/rows";
import type { TreeNode } from "../src/protocol.gen";

function node(id: string, parentId: string | null, role: string, more: Partial<TreeNode> = {}): TreeNode {
  return { id, parentId, type: "message", role, preview: id, timestamp: "", tokens: 1, childCount: 0, onCurrentPath: true, ...more };
}

/** A question with its answer, then two ways on, the second in two steps and with a tool. */
const TREE = [
  node("u1", null, "user"), node("a1", "u1", "assistant"),
  node("u2", "a1", "user"), node("a2", "u2", "assistant"), node("t2", "a2", "toolResult"), node("a2b", "t2", "assistant"),
  node("u3", "a1", "user"), node("a3", "u3", "assistant"), node("u4", "a3", "user"), node("a4", "u4", "assistant", { label: "good" }),
  node("f", "a4", "", { type: "file_activity" }),
];

function outline(filter: BranchFilter, leafId: string | null = "a4"): string[] {
  const { rows, currentId } = branchRows(TREE, leafId, filter);
  return rows.map(({ id, parentId, endId }) => `${id} < ${parentId ?? "-"} > ${endId}${id === currentId ? " *" : ""}`);
}

test("rows are what the user asked, below the row before, and lead to the end of what was answered", () => {
  assert.deepEqual(outline("mine"), ["u1 < - > a1", "u2 < u1 > a2b", "u3 < u1 > a3", "u4 < u3 > u4", "a4 < u4 > a4 *"]);
});

test("branch points alone, what is labelled alone, and everything", () => {
  assert.deepEqual(outline("branches"), ["u2 < - > a2b", "u3 < - > u4", "a4 < u3 > a4 *"]);
  assert.deepEqual(outline("labelled"), ["a4 < - > a4 *"]);
  assert.equal(outline("all").length, TREE.length);
});

test("a row is an alternative where the conversation went on in other ways", () => {
  const { rows } = branchRows(TREE, "a4", "mine");
  assert.deepEqual(rows.filter(({ isAlternative }) => isAlternative).map(({ id }) => id), ["u2", "u3"]);
});

test("exactly one row is current wherever the leaf is", () => {
  for (const leaf of ["u1", "a1", "u2", "a2", "t2", "a2b", "u3", "a3", "u4", "a4", "f"]) {
    assert.equal(outline("mine", leaf).filter((row) => row.endsWith("*")).length, 1, leaf);
  }
  for (const filter of ["mine", "branches", "labelled", "all"] as const) assert.equal(outline(filter, "u1").filter((row) => row.endsWith("*")).length, 1, filter);
  assert.equal(outline("mine", null).filter((row) => row.endsWith("*")).length, 0);
  // A leaf that is not listed is below the last row on its path.
  assert.ok(outline("mine", "not listed").at(-1)?.endsWith("*"));
});

test("two first messages are alternatives, and a tree of ten thousand entries has a row for each question", () => {
  const two = [node("u1", null, "user"), node("u2", null, "user")];
  assert.deepEqual(branchRows(two, "u2", "branches").rows.map(({ id }) => id), ["u1", "u2"]);
  const many = Array.from({ length: 10_000 }, (_, at) => node(`n${at}`, at === 0 ? null : `n${at - 1}`, at % 2 === 0 ? "user" : "assistant"));
  assert.equal(branchRows(many, "n9999", "mine").rows.length, 5000);
});
