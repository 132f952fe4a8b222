import assert from "node:assert/strict";
import { test } from "node:test";

import { isOf, type KeyChoice, keyVariable, variableAfter } from "../src/models/endpoints";

const OPENAI = { provider: "openai", baseUrl: "" };
const LOCAL = { provider: "openai", baseUrl: "http://127.0.0.1:8080/v1" };
const GROQ = { provider: "openai", baseUrl: "https://api.groq.com/openai/v1" };
const OTHERS = ["https://api-groq.com/v1", "http://api.groq.com/v1", "https://api.groq.com:8443/v1", "https://api.groq_com/v1"].map((baseUrl) => ({ provider: "openai", baseUrl }));
/** As keys were named without the origin. */
const OLD = "COPPICE_API_GROQ_COM_API_KEY";

function after(more: Partial<KeyChoice>): string | undefined {
  return variableAfter({ after: LOCAL, named: [{ endpoint: OPENAI, variable: "COPPICE_API_KEY" }], stored: ["COPPICE_API_KEY"], isEntered: false, ...more });
}

test("an empty key field never takes a key to another origin", () => {
  assert.equal(after({}), undefined);
  assert.equal(after({ named: [{ endpoint: LOCAL, variable: "COPPICE_API_KEY" }], after: OPENAI }), undefined);
  assert.equal(after({ after: { ...OPENAI, provider: "anthropic" } }), undefined);
  for (const other of OTHERS) {
    assert.equal(after({ after: other, stored: [keyVariable(GROQ), OLD], named: [{ endpoint: GROQ, variable: OLD }, { endpoint: GROQ, variable: keyVariable(GROQ) }] }), undefined, other.baseUrl);
  }
});

test("an empty key field takes the key of the same origin", () => {
  assert.equal(after({ after: OPENAI }), "COPPICE_API_KEY");
  assert.equal(after({ after: { provider: "openai-responses", baseUrl: "https://API.openai.com:443/v1/" } }), "COPPICE_API_KEY");
  assert.equal(after({ stored: [keyVariable(LOCAL)] }), keyVariable(LOCAL));
});

test("a key that was stored without its origin is of the one origin for which the settings name it, else it is asked for", () => {
  const named = [{ endpoint: GROQ, variable: OLD }];
  assert.equal(after({ after: GROQ, stored: [OLD], named }), OLD);
  assert.equal(after({ after: GROQ, stored: [OLD], named: [] }), undefined);
  for (const endpoint of OTHERS) assert.equal(after({ after: GROQ, stored: [OLD], named: [...named, { endpoint, variable: OLD }] }), undefined);
});

test("a key is not sent where the settings were changed to another origin", () => {
  for (const endpoint of OTHERS) assert.equal(isOf(keyVariable(GROQ), endpoint, [{ endpoint, variable: keyVariable(GROQ) }]), false);
  assert.equal(isOf(keyVariable(GROQ), GROQ, []), true);
});

test("a key that is entered is kept for its origin alone, under the name of a variable", () => {
  assert.equal(after({ isEntered: true }), keyVariable(LOCAL));
  assert.match(keyVariable(LOCAL), /^COPPICE_127_0_0_1_8080_[0-9A-F]{16}_API_KEY$/);
  assert.equal(keyVariable(OPENAI), keyVariable({ provider: "openai-responses", baseUrl: "https://api.openai.com" }));
  assert.equal(new Set([GROQ, LOCAL, OPENAI, ...OTHERS].map(keyVariable)).size, 3 + OTHERS.length);
});
