import assert from "node:assert/strict";
import { test } from "node:test";

import type { Entry, Message } from "../src/protocol.gen";
import { withEntries } from "../webview/state/items";
import { begun, shortFigures, spokenFigures, type TurnFigures, withReply } from "../webview/state/turn-figures";

const START = "2026-11-20T10:00:00.000Z";

function after(seconds: number): string {
  return new Date(Date.parse(START) + seconds * 1000).toISOString();
}

function turn(): TurnFigures {
  const figures = begun(START);
  assert.ok(figures);
  return figures;
}

test("the requests of a turn are added up, with the share that came from the cache", () => {
  const first = withReply(turn(), after(3), { input: 2000, output: 100, cacheRead: null, cacheWrite: 10_000 });
  const second = withReply(first, after(8), { input: 500, output: 32, cacheRead: 12_000 });
  assert.equal(shortFigures(second), "25k in (48% cached), 132 out · 8 s");
  assert.equal(spokenFigures(second), "This turn: 2 requests with 24,500 tokens, 48% of them from the provider's cache; 132 tokens received; 8 s.");
});

test("what each model took is added up by itself", () => {
  const usage = { input: 100, output: 10, cacheRead: 50, cacheWrite: 20 };
  const figures = ["a", "b", "a", undefined].reduce((before, model) => withReply(before, after(1), usage, model), turn());
  assert.deepEqual(figures.spendings, [{ model: "a", sent: 340, cached: 100, written: 40, received: 20 }, { model: "b", sent: 170, cached: 50, written: 20, received: 10 }, { model: undefined, sent: 170, cached: 50, written: 20, received: 10 }]);
  assert.deepEqual([figures.sent, figures.cached, figures.received], [680, 200, 40]);
});

test("long times have minutes and hours, and what is not known is not shown", () => {
  assert.equal(shortFigures(withReply(turn(), after(125), undefined)), "2 min 5 s");
  assert.equal(shortFigures(withReply(turn(), after(3780), undefined)), "1 h 3 min");
  assert.equal(shortFigures(withReply(turn(), "", { input: 10, output: 1 })), "10 in, 1 out");
  assert.equal(begun(""), undefined);
});

test("a reply has the figures of its turn, from the user's message on", () => {
  const entry = (id: string, seconds: number, message: Message): Entry => ({ id, parentId: null, timestamp: after(seconds), type: "message", message });
  const reply = (id: string, seconds: number): Entry => entry(id, seconds, { role: "assistant", content: [], usage: { input: 10, output: 1 } });
  const items = withEntries([], [
    reply("a0", 0),
    entry("u1", 1, { role: "user", content: "hello" }), reply("a1", 2), reply("a2", 4),
    entry("u2", 9, { role: "user", content: "and" }), reply("a3", 10),
  ]);
  const figures = items.flatMap((item) => (item.kind === "assistant" ? [`${item.id} ${item.turn === undefined ? "-" : shortFigures(item.turn)}`] : []));
  assert.deepEqual(figures, ["a0 -", "a1 10 in, 1 out · 1 s", "a2 20 in, 2 out · 3 s", "a3 10 in, 1 out · 1 s"]);
});
