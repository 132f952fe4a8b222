import assert from "node:assert/strict";
import { test } from "node:test";

import { sections } from "../src/ledger/model";
import type { LedgerResult, WorkLedger, WorkState } from "../src/protocol.gen";

function result({ messages = [], quotations = [], finished = false, ...state }: Partial<WorkLedger & WorkState>): LedgerResult {
  const ledger = { messages, quotations, finished, replied: finished, earlier: "", earlierBeforeCommit: "", leftOut: 0, state: { branch: "main", baseCommit: "", ...state } };
  return { leafId: "leaf", ledger, readFiles: [], modifiedFiles: [], deletedFiles: [] };
}

function outline(ledger: Partial<WorkLedger & WorkState>): Record<string, string[]> {
  return Object.fromEntries(sections(result(ledger)).map(({ title, facts }) => [title, facts.map(({ text, detail, entryId }) => `${text} | ${detail} | ${String(entryId)}`)]));
}

test("an empty ledger has no sections", () => {
  assert.deepEqual(sections(result({})), []);
});

test("what failed, is under way or is not committed is open; each line leads to its entry", () => {
  const open = outline({
    failures: [{ entryId: "e1", command: "npm ci", error: "no network" }],
    checks: [
      { entryId: "e2", command: "npm test", passed: false, result: "1 failed" },
      { entryId: "e3", command: "pytest", passed: true, result: "9 passed", changedSince: ["src/a.py"] },
    ],
    tasks: [{ entryId: "e4", id: "1", title: "Write the parser", state: "in_progress" }],
    uncommitted: [{ entryId: "e5", path: "src/a.py", kind: "created" }],
  });
  assert.deepEqual(open, {
    Open: [
      "npm ci | no network | e1",
      "npm test | 1 failed | e2",
      "pytest | passed, before later changes | e3",
      "Write the parser | in progress | e4",
      "src/a.py | created, not committed | e5",
    ],
  });
});

test("next is what was asked last, what was announced, and the tasks that wait", () => {
  const asked = { text: "Fix the import", source: "user" as const, about: "", shortened: false };
  const next = outline({
    messages: [{ ...asked, entryId: "e0", text: "Read dates" }, { ...asked, entryId: "e1" }, { ...asked, entryId: "e2", source: "memory" as const }],
    quotations: [
      { entryId: "e3", text: "Dates are read.", kind: "report", about: "", overtaken: false, beforeCommit: "" },
      { entryId: "e5", text: "I run the tests.", kind: "announcement", about: "", overtaken: false, beforeCommit: "" },
    ],
    tasks: [{ entryId: "e4", id: "2", title: "Document it", state: "open" }],
  });
  assert.deepEqual(next, { Next: ["Fix the import | asked last | e1", "I run the tests. | announced | e5", "Document it |  | e4"] });
});

test("what is done has the newest commit first, and work that is finished asks for nothing", () => {
  const commit = { entryId: "e1", hash: "26c4206", subject: "Read dates", body: "", branch: "main", pushed: true };
  const ledger = {
    finished: true,
    messages: [{ entryId: "e0", text: "Read dates", source: "user" as const, about: "", shortened: false }],
    commits: [commit, { ...commit, entryId: "e2", subject: "Read\n  times", pushed: false }],
  };
  assert.deepEqual(outline(ledger), { Done: ["Read times | 26c4206 | e2", "Read dates | 26c4206, pushed | e1"] });
});
