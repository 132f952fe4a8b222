import assert from "node:assert/strict";
import { test } from "node:test";

import { cost, pricesOf } from "../src/chat/prices";

const PRICES = { input: 3, cachedInput: 0.3, output: 15, currency: "$" };

const PRICING = { models: [], others: PRICES };

test("what is cached costs its own price, and small amounts keep two digits", () => {
  assert.equal(cost(PRICING, [{ sent: 1_000_000, cached: 800_000, written: 0, received: 20_000 }]), "$1.14");
  assert.equal(cost(PRICING, [{ sent: 1000, cached: 0, written: 0, received: 0 }]), "$0.0030");
  assert.equal(cost({ models: [], others: { ...PRICES, currency: "€ " } }, []), "€ 0.00");
});

test("what is written to the cache costs its own price where there is one", () => {
  const spending = { sent: 1_000_000, cached: 200_000, written: 400_000, received: 0 };
  assert.equal(cost(PRICING, [spending]), "$2.46");
  assert.equal(cost({ models: [], others: { ...PRICES, cacheWrite: 3.75 } }, [spending]), "$2.76");
  assert.deepEqual(pricesOf({ ...PRICES, cacheWrite: 3.75 }), { ...PRICES, cacheWrite: 3.75 });
});

test("each request costs what its own model does, whatever answers now", () => {
  const output = (name: string, price: number, currency = "$") => ({ name, prices: { input: 0, cachedInput: 0, output: price, currency } });
  const pricing = { models: [output("gpt", 1), output("gpt-mini", 0.5), output("opus", 25, "€")], others: undefined };
  const million = (model?: string) => ({ model, sent: 0, cached: 0, written: 0, received: 1_000_000 });
  assert.equal(cost(pricing, [million("gpt"), million("gpt-mini")]), "$1.50");
  assert.equal(cost(pricing, [million("gpt-2026-01-31"), million("gpt-mini-20260131"), million("gpt-mini-001")]), "$2.00");
  assert.equal(cost(pricing, [million("opus"), million("gpt")]), "€25.00 + $1.00");
  for (const other of ["gpt-nano", "gp", "gpt-4o", "my-gpt", undefined]) {
    assert.equal(cost(pricing, [million(other)]), undefined, other);
    assert.equal(cost(pricing, [million("gpt"), million(other), { sent: 0, cached: 0, written: 0, received: 0 }]), "at least $1.00", other);
    assert.equal(cost({ ...pricing, others: PRICES }, [million("gpt"), million(other)]), "$16.00", other);
  }
});

test("there is no cost before every price is set, and none of what is no price", () => {
  assert.deepEqual(pricesOf({ input: 3, cachedInput: 0.3, output: 15 }), PRICES);
  for (const setting of [undefined, {}, { input: 3, output: 15 }, { ...PRICES, input: -1 }, { ...PRICES, cacheWrite: -1 }, { ...PRICES, output: "15" }, { ...PRICES, currency: "x".repeat(9) }]) {
    assert.equal(pricesOf(setting), undefined);
  }
});
