import assert from "node:assert/strict";
import { test } from "node:test";

import { Consent, type Decision } from "../src/models/consent";

function person(...answers: Decision[]): { ask: () => Promise<Decision>; asked: () => number } {
  let asked = 0;
  return {
    ask: () => Promise.resolve(answers[asked++] ?? "no"),
    asked: () => asked,
  };
}

test("once is once, and a conversation is that conversation and that tool", async () => {
  const consent = new Consent();
  const { ask, asked } = person("once", "conversation", "no", "no");
  assert.equal(await consent.given("a", "read", "firstUse", ask), true);
  assert.equal(await consent.given("a", "read", "firstUse", ask), true);
  assert.equal(await consent.given("a", "read", "firstUse", ask), true);
  assert.equal(asked(), 2);
  assert.equal(await consent.given("a", "write", "firstUse", ask), false);
  assert.equal(await consent.given("b", "read", "firstUse", ask), false);
});

test("asking always means always", async () => {
  const consent = new Consent();
  const { ask, asked } = person("conversation", "conversation");
  await consent.given("a", "read", "always", ask);
  await consent.given("a", "read", "always", ask);
  assert.equal(asked(), 2);
});

test("two calls at a time are one question where the first answer settles it", async () => {
  const consent = new Consent();
  const { ask, asked } = person("conversation");
  const both = await Promise.all([consent.given("a", "read", "firstUse", ask), consent.given("a", "read", "firstUse", ask)]);
  assert.deepEqual(both, [true, true]);
  assert.equal(asked(), 1);
});

test("a question that fails does not stop the next", async () => {
  const consent = new Consent();
  const failing = consent.given("a", "read", "always", () => Promise.reject(new Error("closed")));
  await assert.rejects(failing, /closed/);
  assert.equal(await consent.given("a", "read", "always", person("once").ask), true);
});
