import assert from "node:assert/strict";
import { test } from "node:test";

import { annotationsOf, viewStart } from "../src/chat/outline";
import type { OutlineResult } from "../src/protocol.gen";

const OUTLINE: OutlineResult = {
  leafId: "e9",
  length: 10,
  compactions: [{ entryId: "c1", depth: 3, firstKeptEntryId: "e2" }, { entryId: "c2", depth: 8, firstKeptEntryId: "e7" }],
  marks: [{ entryId: "e1", label: "start" }, { entryId: "e7", pinned: true }],
  forks: [{ entryId: "e7", alternatives: ["e5", "e7"] }],
};

test("an entry's annotations are put together, and the view begins with what the newest compaction kept", () => {
  assert.deepEqual(Object.fromEntries(annotationsOf(OUTLINE)), {
    e1: { label: "start" },
    e7: { pinned: true, alternatives: { ids: ["e5", "e7"], at: 1 } },
  });
  assert.equal(viewStart(OUTLINE), "e7");
  assert.equal(viewStart({ ...OUTLINE, compactions: [{ entryId: "c1", depth: 3 }] }), "c1");
  assert.equal(viewStart({ ...OUTLINE, compactions: [] }), undefined);
  assert.equal(annotationsOf(undefined).size, 0);
});

test("an annotation that has not changed is the same object", () => {
  const before = annotationsOf(OUTLINE);
  const after = annotationsOf({ ...OUTLINE, marks: [{ entryId: "e1", label: "beginning" }, { entryId: "e7", pinned: true }] }, before);
  assert.equal(after.get("e7"), before.get("e7"));
  assert.notEqual(after.get("e1"), before.get("e1"));
});
