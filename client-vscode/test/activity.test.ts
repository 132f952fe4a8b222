import assert from "node:assert/strict";
import { test } from "node:test";

import type { ApprovalRequest } from "../src/approvals/approval";
import { Approvals } from "../src/approvals/approvals";
import { Activities, titleWith } from "../src/chat/activity";

function request(conversationId: string): ApprovalRequest {
  return { conversationId, toolCallId: "t", tool: "run_command", title: "Run a command", scope: null, details: [] };
}

function turns(...running: string[]) {
  return { running, isRunning: (id: string) => running.includes(id), onDidChange: () => ({ dispose: () => undefined }) };
}

test("a conversation waits, runs, or does neither, and the one that waits longest and is not shown comes first", () => {
  const approvals = new Approvals({ read: () => undefined, write: () => undefined });
  const activities = new Activities(approvals, turns("a", "b", "c"));
  let changes = 0;
  activities.onDidChange(() => { changes += 1; });
  assert.equal(activities.waiting(undefined), undefined);
  void approvals.approve(request("a"), "always");
  void approvals.approve(request("b"), "always");
  assert.deepEqual(["a", "b", "c", "d"].map((id) => activities.of(id)), ["waiting", "waiting", "running", undefined]);
  assert.deepEqual([activities.waiting(undefined), activities.waiting("a"), activities.waiting("b")], ["a", "b", "a"]);
  approvals.endTurn("a", true);
  assert.equal(activities.of("a"), "running", "an interrupted question holds nothing up");
  approvals.endTurn("b", false);
  assert.equal(activities.waiting("d"), undefined);
  assert.ok(changes > 0);
  assert.deepEqual([titleWith("waiting", "x"), titleWith(undefined, "x")], ["(!) x", "x"]);
});
