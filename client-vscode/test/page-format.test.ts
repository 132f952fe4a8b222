import assert from "node:assert/strict";
import { test } from "node:test";

import { ago, callSummary } from "../webview/format";

test("times are expected by their distance", () => {
  const now = Date.parse("2026-03-02T12:00:00Z");
  const cases: readonly [timestamp: string, expected: string][] = [
    ["2026-03-02T11:59:30Z", "just now"],
    ["2026-03-02T12:00:30Z", "just now"],
    ["2026-03-02T11:55:00Z", "5 minutes ago"],
    ["2026-03-02T09:30:00Z", "2 hours ago"],
    ["2026-03-01T11:00:00Z", "yesterday"],
    ["2026-02-20T12:00:00Z", "last week"],
    ["2025-12-02T12:00:00Z", "3 months ago"],
    ["2023-01-02T12:00:00Z", "3 years ago"],
    ["never", ""],
  ];
  for (const [timestamp, expected] of cases) assert.equal(ago(timestamp, now), expected, timestamp);
});

test("a tool call is expected in one line by what it is about", () => {
  assert.equal(callSummary({ path: "a.py", limit: 3 }), "a.py");
  assert.equal(callSummary({ command: "make\n  test", path: "x" }), "make test");
  assert.equal(callSummary({ depth: 3 }), '{"depth":3}');
  assert.equal(callSummary({}), "");
  assert.equal(callSummary({ query: "x".repeat(1000) }).length, 200);
});
