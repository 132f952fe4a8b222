import assert from "node:assert/strict";
import { test } from "node:test";

import { Backoff } from "../src/server/backoff";

test("a server that ends again and again is waited for longer, and then left alone", () => {
  const backoff = new Backoff();
  const delays = [0, 1000, 4000, 13_000, 46_000].map((now) => backoff.delayAfterEnd(now));
  assert.deepEqual(delays, [500, 2000, 8000, 32_000, undefined]);
});

test("an end long after the last counts as the first", () => {
  const backoff = new Backoff();
  backoff.delayAfterEnd(0);
  assert.equal(backoff.delayAfterEnd(10 * 60_000), 500);
});
