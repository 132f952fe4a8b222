import assert from "node:assert/strict";
import { test } from "node:test";

import { ChatMemory, draftWith } from "../src/chat/memory";

function memento(stored?: unknown) {
  const state = { stored };
  return { state, get: <T>() => state.stored as T, update: (_key: string, value: unknown) => { state.stored = value; return Promise.resolve(); } };
}

test("drafts and places are kept by conversation over a reload, the newest of them", async () => {
  const store = memento();
  const memory = new ChatMemory(store);
  for (let at = 0; at < 52; at += 1) await memory.keepDraft(`c${at}`, `draft ${at}`);
  await memory.keepDraft("c2", "again");
  await memory.keepDraft("c60", "one more");
  await memory.keepPlace({ type: "place", key: "c2", place: { entry: "e1", above: 12 } });

  const { all } = new ChatMemory(store);
  assert.equal(Object.keys(all.drafts).length, 50);
  assert.deepEqual([all.drafts["c2"], all.drafts["c3"], all.drafts["c60"]], ["again", undefined, "one more"]);
  assert.deepEqual(all.places, { c2: { entry: "e1", above: 12 } });
});

test("an empty draft and a place at the end are removed, and what was kept in another form is left out", async () => {
  const memory = new ChatMemory(memento({ drafts: { c1: 7 } }));
  assert.deepEqual(memory.all, { drafts: {}, places: {} });
  await memory.keepDraft("c1", "text");
  await memory.keepPlace({ type: "place", key: "c1", place: { entry: "e1", above: 0 } });
  await memory.keepDraft("c1", "");
  await memory.keepPlace({ type: "place", key: "c1" });
  assert.deepEqual(memory.all, { drafts: {}, places: {} });
  assert.equal(memory.draft("c1"), "");
});

test("a text is put after a draft once, and neither is lost", () => {
  assert.equal(draftWith("", "Say three."), "Say three.");
  assert.equal(draftWith("Mine.", "Say three."), "Mine.\n\nSay three.");
  for (const draft of ["Say three.", "Mine.\n\nSay three."]) assert.equal(draftWith(draft, "Say three."), draft);
  assert.equal(draftWith("Then say three.", "three."), "Then say three.\n\nthree.");
});
