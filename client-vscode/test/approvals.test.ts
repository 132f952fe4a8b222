import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { type ApprovalRequest, readPending } from "../src/approvals/approval";
import { Approvals } from "../src/approvals/approvals";
import { argumentDetails } from "../src/approvals/arguments";
import { diffDetail } from "../src/approvals/diff";

const ALLOWED = { allowed: true };

function memory(value?: unknown) {
  return { value, read() { return this.value; }, write(approvals: unknown) { this.value = structuredClone(approvals); } };
}

function request(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    conversationId: "a", toolCallId: "call-1", tool: "run_command", title: "Run a command", scope: "run_command",
    details: [{ kind: "command", command: "make" }], ...more,
  };
}

function only(approvals: Approvals): string {
  const [first, ...others] = approvals.pending();
  assert.ok(first !== undefined && others.length === 0);
  return first.id;
}

test("a request waits until it is decided, and a denied one gets the reason", async () => {
  const approvals = new Approvals(memory());
  const allowed = approvals.approve(request(), "firstUse");
  approvals.decide(only(approvals), { kind: "allow" });
  assert.deepEqual(await allowed, ALLOWED);
  const denied = approvals.approve(request(), "firstUse");
  approvals.decide(only(approvals), { kind: "deny", message: " use ninja " });
  assert.deepEqual(await denied, { allowed: false, reason: "The user did not allow this. The user says: use ninja" });
  assert.deepEqual(approvals.pending(), []);
});

test("what is allowed for the conversation covers its scope there, also what waits already", async () => {
  const approvals = new Approvals(memory());
  const both = [approvals.approve(request(), "firstUse"), approvals.approve(request({ toolCallId: "call-2" }), "firstUse")];
  const elsewhere = approvals.approve(request({ conversationId: "b" }), "firstUse");
  approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "allowConversation" });
  assert.deepEqual(await Promise.all(both), [ALLOWED, ALLOWED]);
  assert.deepEqual(await approvals.approve(request(), "firstUse"), ALLOWED);
  assert.equal(approvals.pending("b").length, 1);
  void approvals.approve(request({ scope: "edit_file" }), "firstUse");
  void approvals.approve(request(), "always");
  assert.equal(approvals.pending("a").length, 2);
  approvals.decide(approvals.pending("b")[0]?.id ?? "", { kind: "allow" });
  assert.deepEqual(await elsewhere, ALLOWED);
});

test("what the user made of a proposed text comes with each answer that allows it, and goes with the question", async () => {
  const approvals = new Approvals(memory());
  const proposed = { path: "/shop/a", before: null, after: "a" };
  const both = ["1", "2"].map((toolCallId) => approvals.approve(request({ toolCallId }), "firstUse", undefined, proposed));
  const [first, second] = approvals.pending();
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(approvals.proposedText(second.id), proposed);
  approvals.changedText = (id) => (id === second.id ? "b" : undefined);
  approvals.decide(first.id, { kind: "allowConversation" });
  assert.deepEqual(await Promise.all(both), [ALLOWED, { allowed: true, text: "b" }]);
  assert.equal(approvals.proposedText(second.id), undefined);

  void approvals.approve(request({ conversationId: "b" }), "firstUse", undefined, proposed);
  const id = only(approvals);
  approvals.endTurn("b", true);
  assert.deepEqual([approvals.pending().length, approvals.proposedText(id)], [1, undefined]);
});

test("a request without a scope is never covered by an earlier answer", async () => {
  const approvals = new Approvals(memory());
  const secret = approvals.approve(request({ scope: null }), "firstUse");
  const other = approvals.approve(request({ scope: null, toolCallId: "call-2" }), "firstUse");
  approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "allowConversation" });
  assert.deepEqual(await secret, ALLOWED);
  assert.equal(approvals.pending().length, 1);
  approvals.decide(only(approvals), { kind: "allow" });
  assert.deepEqual(await other, ALLOWED);
});

test("the end of a turn denies what waits, and stopping a call withdraws its question", async () => {
  const approvals = new Approvals(memory());
  const waiting = approvals.approve(request(), "always");
  approvals.endTurn("a", false);
  assert.equal((await waiting).allowed, false);
  const listeners: (() => void)[] = [];
  const token = { isCancellationRequested: false, onCancellationRequested: (listener: () => void) => { listeners.push(listener); return { dispose: () => undefined }; } };
  const stopped = approvals.approve(request(), "always", token);
  for (const listener of listeners) listener();
  assert.equal((await stopped).allowed, false);
  assert.deepEqual(approvals.pending(), []);
});

test("a question that a reload cuts off is still there, and allowing it allows the same request once", async () => {
  const place = { folder: "/shop", path: "a.txt" };
  const questions: ApprovalRequest[] = [
    request({ details: [{ kind: "command", command: "make", directory: ".", place }] }),
    request({ tool: "edit_file", details: [{ ...diffDetail("a.txt", "1\n", "2\n"), place }] }),
  ];
  for (const question of questions) {
    const memento = memory();
    void new Approvals(memento).approve(question, "always");
    const approvals = new Approvals(memento);
    assert.equal(approvals.pending("a")[0]?.interrupted, true);
    assert.equal(approvals.decide(only(approvals), { kind: "allow" })?.tool, question.tool);
    assert.deepEqual(await Promise.race([approvals.approve({ ...question, toolCallId: "call-9" }, "always"), setImmediate()]), ALLOWED);
    void approvals.approve({ ...question, toolCallId: "call-10" }, "always");
    assert.equal(approvals.pending().length, 1);
    assert.equal(new Approvals(memento).pending().length, 1);
  }
});

test("allowing an interrupted request does not allow another command", () => {
  const approvals = new Approvals(memory());
  void approvals.approve(request(), "always");
  approvals.endTurn("a", true);
  approvals.decide(only(approvals), { kind: "allow" });
  void approvals.approve(request({ details: [{ kind: "command", command: "rm -r ." }] }), "always");
  assert.equal(approvals.pending().length, 1);
});

test("what was kept and cannot be read is no question", () => {
  for (const value of [undefined, "x", [{}], [{ ...request(), id: 3 }]]) assert.deepEqual(readPending(value), []);
});

test("a question names the command first and every other argument whole", () => {
  const long = "x".repeat(100_000);
  assert.deepEqual(argumentDetails({ note: long, command: "rm -rf ." }), [
    { kind: "command", command: "rm -rf ." },
    { kind: "arguments", arguments: { note: long } },
  ]);
  assert.deepEqual(argumentDetails({ path: long }), [{ kind: "arguments", arguments: { path: long } }]);
});

test("a diff has the changed lines with three around them", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`);
  const detail = diffDetail("a.txt", lines.join(""), lines.with(9, "changed\n").join(""));
  assert.deepEqual(detail.hunks, [
    { oldStart: 7, newStart: 7, lines: [" line 7", " line 8", " line 9", "-line 10", "+changed", " line 11", " line 12", " line 13"] },
  ]);
  assert.equal(detail.isNew, false);
  const created = diffDetail("b.txt", undefined, "one\ntwo");
  assert.equal(created.isNew, true);
  assert.deepEqual(created.hunks[0]?.lines, ["+one", "+two", "\\ No newline at end of file"]);
});
