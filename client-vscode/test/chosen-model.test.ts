import assert from "node:assert/strict";
import { test } from "node:test";

import { choiceOf, NextChoice, wireChoice } from "../src/models/choice";
import { chosenModel, pricingOf } from "../webview/state/chosen-model";
import { INITIAL, reduce } from "../webview/state/state";

const PRICES = { input: 1, cachedInput: 0.1, output: 4, currency: "$" };
const MODEL = { type: "model", name: "usual", models: [{ id: "Usual", name: "m", prices: { ...PRICES, output: 8 } }, { id: "Fast", name: "m", prices: PRICES }, { id: "Free", name: "f" }] } as const;

void test("the next conversation's model is shown until there is one, and a model that is gone is the usual one", () => {
  const next = reduce(reduce(INITIAL, { ...MODEL, models: [...MODEL.models] }), { type: "nextModel", model: "Fast", thinkingLevel: "high" });
  assert.deepEqual(chosenModel(next), { name: "Fast", thinkingLevel: "high" });
  assert.deepEqual(pricingOf(next)?.models.map(({ prices }) => prices.output), [4, 8]);
  assert.deepEqual([pricingOf(INITIAL), pricingOf({ ...INITIAL, prices: PRICES })], [undefined, { models: [], others: PRICES }]);
  const gone = reduce(next, { type: "nextModel", model: "Slow" });
  assert.deepEqual(chosenModel(gone), { name: "usual", thinkingLevel: undefined });
});

void test("what was stored and is no choice is none", () => {
  assert.deepEqual([choiceOf(undefined), choiceOf({ thinkingLevel: "utmost" }), choiceOf("Fast")], [{}, {}, {}]);
  assert.deepEqual(wireChoice({ thinkingLevel: "low" }), { model: null, thinkingLevel: "low" });
});

void test("a choice outlives the window, and who shows it is called", async () => {
  const stored = new Map<string, unknown>();
  const memory = { get: (key: string) => stored.get(key), update: async (key: string, value: unknown) => { await Promise.resolve(); stored.set(key, value); } };
  const choice = new NextChoice(memory);
  assert.equal(choice.isEmpty, true);
  let calls = 0;
  choice.onDidChange(() => { calls += 1; });
  await choice.set({ model: "Fast" });
  assert.deepEqual([calls, new NextChoice(memory).current, choice.isEmpty], [1, { model: "Fast" }, false]);
});
