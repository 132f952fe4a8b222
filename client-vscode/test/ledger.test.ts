import assert from "node:assert/strict";
import { test } from "node:test";

import { sections } from "../src/ledger/model";
import type { LedgerResult, WorkLedger } from "../src/protocol.gen";

function result(ledger: Partial<WorkLedger>): LedgerResult {
  return { leafId: "leaf", ledger: { branch: "main", intent: "", finished: false, ...ledger }, readFiles: [], modifiedFiles: [], deletedFiles: [] };
}

function outline(ledger: Partial<WorkLedger>): Record<string, string[]> {
  return Object.fromEntries(sections(result(ledger)).map(({ title, facts }) => [title, facts.map(({ text, detail, entryId }) => `${text} | ${detail} | ${String(entryId)}`)]));
}

test("an empty ledger has no sections", () => {
  assert.deepEqual(sections(result({})), []);
});

test("what failed, is under way or is not committed is open; each line leads to its entry", () => {
  const open = outline({
    problems: [
      { entryId: "e1", what: "npm test", error: "1 failed", explanation: "", code: "", isChange: false, open: true },
      { entryId: "e2", what: "make", error: "no rule", explanation: "", code: "", isChange: false, open: false },
    ],
    checks: [{ entryId: "e3", command: "pytest", passed: true, result: "9 passed", stale: true }],
    tasks: [{ entryId: "e4", id: "1", title: "Write the parser", state: "in_progress" }],
    uncommitted: [{ entryId: "e5", path: "src/a.py", kind: "edited", edits: 2 }],
  });
  assert.deepEqual(open, {
    Open: [
      "npm test | 1 failed | e1",
      "pytest | passed, before later changes | e3",
      "Write the parser | in progress | e4",
      "src/a.py | edited, 2 edits, not committed | e5",
    ],
  });
});

test("next is what was asked last and not withdrawn, what was announced, and the tasks that wait", () => {
  const request = { entryId: "e1", text: "Fix the import", kind: "request" as const, about: "" };
  const next = outline({
    requests: [request, { ...request, entryId: "e2", text: "Forget it", withdrawnBy: "No, go on" }],
    intent: "I run the tests.",
    tasks: [{ entryId: "e4", id: "2", title: "Document it", state: "open" }],
  });
  assert.deepEqual(next, { Next: ["Fix the import | asked last | e1", "I run the tests. | announced | leaf", "Document it |  | e4"] });
});

test("what is done has the newest commit first, and work that is finished asks for nothing", () => {
  const commit = { entryId: "e1", hash: "26c4206", subject: "Read dates", body: "", trailer: "", branch: "main", pushed: true };
  const ledger = {
    finished: true,
    requests: [{ entryId: "e0", text: "Read dates", kind: "request" as const, about: "" }],
    commits: [commit, { ...commit, entryId: "e2", subject: "Read\n  times", pushed: false }],
  };
  assert.deepEqual(outline(ledger), { Done: ["Read times | 26c4206 | e2", "Read dates | 26c4206, pushed | e1"] });
});
