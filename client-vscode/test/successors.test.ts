import assert from "node:assert/strict";
import { test } from "node:test";

import type { Entry } from "../src/protocol.gen";
import { withEarlier, withEntries } from "../webview/state/items";
import { firstItemFrom, withSuccessors } from "../webview/state/successors";

/** A chain: `u…` are messages, `f…` are file events, which show nothing. */
function chain(...ids: string[]): Entry[] {
  return ids.map((id, at): Entry => {
    const place = { id, parentId: ids[at - 1] ?? null, timestamp: "" };
    return id.startsWith("u") ? { ...place, type: "message", message: { role: "user", content: id } } : { ...place, type: "label", targetId: "u1", label: id };
  });
}

const PATH = chain("u1", "f1", "f2", "u2", "f3", "u3");

test("an entry that shows nothing has the place of the item that follows it", () => {
  const items = withEntries([], PATH);
  const successors = withSuccessors(new Map(), items, PATH);
  const cases = [["u1", "u1"], ["f1", "u2"], ["f2", "u2"], ["f3", "u3"], ["unknown", undefined], [undefined, undefined]] as const;
  for (const [entryId, expected] of cases) assert.equal(firstItemFrom(entryId, items, successors), expected, entryId);
});

test("the place is found wherever the pages of the conversation begin, in whichever order they come", () => {
  for (const cut of PATH.keys()) {
    const [earlier, later] = [PATH.slice(0, cut), PATH.slice(cut)];
    const read = withEntries([], later);
    const backward = withEarlier(read, earlier);
    const back = withSuccessors(withSuccessors(new Map(), read, later), backward, earlier);
    assert.equal(firstItemFrom("f1", backward, back), "u2", `backward, ${cut}`);
    const begun = withEntries([], earlier);
    const forward = withEntries(begun, later);
    const on = withSuccessors(withSuccessors(new Map(), begun, earlier), forward, later);
    assert.equal(firstItemFrom("f1", forward, on), "u2", `forward, ${cut}`);
  }
});

test("a circle ends", () => {
  assert.equal(firstItemFrom("a", [], new Map([["a", "b"], ["b", "a"]])), undefined);
});
