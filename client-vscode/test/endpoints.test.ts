import assert from "node:assert/strict";
import { test } from "node:test";

import { type KeyChoice, keyVariable, variableAfter } from "../src/models/endpoints";

const OPENAI = { provider: "openai", baseUrl: "" };
const LOCAL = { provider: "openai", baseUrl: "http://127.0.0.1:8080/v1" };

function after(more: Partial<KeyChoice>): string | undefined {
  return variableAfter({ before: OPENAI, after: LOCAL, variable: "COPPICE_API_KEY", stored: ["COPPICE_API_KEY"], isEntered: false, ...more });
}

test("an empty key field never takes a key to another endpoint", () => {
  assert.equal(after({}), undefined);
  assert.equal(after({ variable: "OPENAI_API_KEY" }), undefined);
  assert.equal(after({ before: LOCAL, after: OPENAI }), undefined);
  assert.equal(after({ before: LOCAL, after: { ...LOCAL, baseUrl: "http://127.0.0.1:8081/v1" } }), undefined);
  assert.equal(after({ before: OPENAI, after: { ...OPENAI, provider: "anthropic" } }), undefined);
});

test("an empty key field leaves the key of the same endpoint, and finds one that was set for it before", () => {
  assert.equal(after({ before: LOCAL, after: { ...LOCAL, baseUrl: `${LOCAL.baseUrl}/` } }), "COPPICE_API_KEY");
  assert.equal(after({ stored: ["COPPICE_127_0_0_1_8080_API_KEY"] }), "COPPICE_127_0_0_1_8080_API_KEY");
});

test("a key that is entered is kept for its endpoint alone", () => {
  assert.equal(after({ isEntered: true }), "COPPICE_127_0_0_1_8080_API_KEY");
  assert.equal(keyVariable({ provider: "anthropic", baseUrl: "" }), "COPPICE_ANTHROPIC_API_KEY");
  assert.notEqual(keyVariable(OPENAI), keyVariable(LOCAL));
});
