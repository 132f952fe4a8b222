import assert from "node:assert/strict";
import { test } from "node:test";

import { NOT_RUN } from "../src/agent/errors";
import { Approvals } from "../src/approvals/approvals";
import { Modes } from "../src/modes/modes";
import { Rules } from "../src/permissions/rules";
import { Disk } from "./agent/disk";

const FILES = { "shop/a.txt": "one\n" };
const EDIT = { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] };

function memory(value?: unknown) {
  return { value, read() { return this.value; }, write(all: unknown) { this.value = structuredClone(all); } };
}

test("a mode is kept by conversation, outlives the window, and what a first message makes takes over what was chosen", () => {
  const memento = memory();
  const modes = new Modes(memento);
  modes.set("a", "plan");
  modes.set("", "acceptEdits");
  modes.adopt("b");
  assert.deepEqual(["a", "b", "c", ""].map((id) => new Modes(memento).of(id)), ["plan", "acceptEdits", "ask", "ask"]);
  modes.set("a", "ask");
  assert.deepEqual(memento.value, { b: "acceptEdits" });
  assert.equal(new Modes(memory({ a: "everything" })).of("a"), "ask");
  assert.equal(new Modes(memory()).of("toString"), "ask");
});

test("while edits are accepted commands are asked about, sensitive files are, and a rule that denies holds", async () => {
  await using disk = await Disk.with({ ...FILES, "shop/.env": "KEY=1\n" });
  const rules = new Rules({ workspace: memory([]), always: memory([]) });
  const approvals = new Approvals(memory(), rules);
  disk.approve = (request, policy, token) => approvals.approve(request, policy, token);
  disk.modes.set("c", "acceptEdits");
  assert.match((await disk.call("edit_file", EDIT)).text, /^Changed a\.txt/);
  for (const [name, given] of [["run_command", { command: "true" }], ["write_file", { path: ".env", content: "" }], ["write_file", { path: ".vscode/tasks.json", content: "" }]] as const) {
    const called = disk.call(name, given);
    while (approvals.pending().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "deny" });
    assert.match((await called).text, /did not allow/, name);
  }
  rules.add({ rule: { effect: "deny", tool: "edit_file", path: "" }, reach: "always" });
  assert.match((await disk.call("write_file", { path: "a.txt", content: "three\n" })).text, /refuses this/);
  assert.equal(await disk.file("shop/a.txt"), "two\n");
});

test("with the mode to plan only nothing is changed, whatever is allowed", async () => {
  await using disk = await Disk.with(FILES);
  disk.settings = { ...disk.settings, policy: "never" };
  disk.modes.set("c", "plan");
  assert.deepEqual(disk.agent.offered("c").map(({ name }) => name), ["read_file", "list_files", "search", "present_plan"]);
  for (const [name, given] of [["edit_file", EDIT], ["write_file", { path: "b.txt", content: "" }], ["run_command", { command: "touch b.txt" }]] as const) {
    const { isError, details, text } = await disk.call(name, given);
    assert.ok(isError);
    assert.deepEqual(details, NOT_RUN);
    assert.match(text, /plan only/, name);
  }
  assert.equal(await disk.file("shop/a.txt"), "one\n");
  await assert.rejects(disk.file("shop/b.txt"));
  assert.ok(!disk.agent.offered("other").some(({ name }) => name === "present_plan"));
});

test("what was allowed while the mode changed to planning does not run", async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = () => {
    disk.modes.set("c", "plan");
    return { allowed: true };
  };
  const { details, text } = await disk.call("edit_file", EDIT);
  assert.match(text, /plan only/);
  assert.deepEqual(details, NOT_RUN);
  assert.equal(await disk.file("shop/a.txt"), "one\n");
});

test("an approved plan ends the turn and sets the mode, with what the user changed in it; a refused one does neither", async () => {
  await using disk = await Disk.with(FILES);
  disk.modes.set("c", "plan");
  disk.answer = () => ({ allowed: false, reason: "The tests first." });
  const refused = await disk.call("present_plan", { plan: "# Plan" });
  assert.deepEqual([refused.isError, refused.text, refused.endsTurn, disk.modes.of("c")], [true, "The tests first.", undefined, "plan"]);
  assert.deepEqual(disk.asked[0]?.details, [{ kind: "plan", text: "# Plan" }]);
  disk.answer = () => ({ allowed: true, mode: "acceptEdits", plan: "# Plan\n\n1. Tests" });
  const approved = await disk.call("present_plan", { plan: "# Plan" });
  assert.ok(approved.endsTurn);
  assert.match(approved.text, /changed the plan.*1\. Tests/s);
  assert.equal(disk.modes.of("c"), "acceptEdits");
});
