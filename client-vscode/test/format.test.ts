import assert from "node:assert/strict";
import { test } from "node:test";

import { beforeAndAfter, counted, forkName, oneLine, shortTokens } from "../src/format";

test("tokens are short", () => {
  const tried = [0, 999, 1499, 9999, 10_000, 142_310, 1_250_000].map(shortTokens);
  assert.deepEqual(tried, ["0", "999", "1,499", "9,999", "10k", "142k", "1250k"]);
  assert.equal(beforeAndAfter(142_300, 23_100), "142k → 23k tokens");
});

test("things are counted in words", () => {
  assert.equal(counted(1, "entry", "entries"), "1 entry");
  assert.equal(counted(1234, "entry", "entries"), "1,234 entries");
});

test("a line has no breaks, no control characters and no marks that turn the writing", () => {
  assert.equal(oneLine("a\n\tb\u001b[31m\u202ec\u0000 "), "a b [31m c");
  assert.equal(oneLine("x".repeat(20), 10), `${"x".repeat(9)}…`);
  assert.equal(Array.from(oneLine("🌳".repeat(20), 10)).length, 10);
});

test("a fork's name says what it is, and is not taken", () => {
  assert.equal(forkName("Money", new Set(["Money"])), "Money (fork)");
  assert.equal(forkName("Money", new Set(["Money (fork)", "Money (fork 2)"])), "Money (fork 3)");
  assert.equal(forkName("Money (fork 2)", new Set(["Money (fork)", "Money (fork 2)"])), "Money (fork 3)");
});
