import assert from "node:assert/strict";
import { test } from "node:test";

import { cost, pricesOf } from "../src/chat/prices";

const PRICES = { input: 3, cachedInput: 0.3, output: 15, currency: "$" };

test("what is cached costs its own price, and small amounts keep two digits", () => {
  assert.equal(cost(PRICES, { sent: 1_000_000, cached: 800_000, received: 20_000 }), "$1.14");
  assert.equal(cost(PRICES, { sent: 1000, cached: 0, received: 0 }), "$0.0030");
  assert.equal(cost({ ...PRICES, currency: "€ " }, { sent: 0, cached: 0, received: 0 }), "€ 0.00");
});

test("there is no cost before every price is set, and none of what is no price", () => {
  assert.deepEqual(pricesOf({ input: 3, cachedInput: 0.3, output: 15 }), PRICES);
  for (const setting of [undefined, {}, { input: 3, output: 15 }, { ...PRICES, input: -1 }, { ...PRICES, output: "15" }, { ...PRICES, currency: "x".repeat(9) }]) {
    assert.equal(pricesOf(setting), undefined);
  }
});
