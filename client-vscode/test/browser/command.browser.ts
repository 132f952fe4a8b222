/** A command while it runs: what it prints, and the buttons that leave it running and end it. */
import assert from "node:assert/strict";

import { inBrowser } from "./panel";
import { assistant, call, entry, result, RUNNING, shown, user } from "./samples";

const LISTED = { id: "run-1", conversationId: "c1", toolCallId: "r1", command: "npm start", isLeft: false, tail: "" };
const ASKED = [user("Start it."), assistant("I start it.", call("r1", "run_command", { command: "npm start" }))];

inBrowser("output appears in the card while the command runs, and stays at its end", {}, async (panel) => {
  await panel.post(RUNNING, shown(ASKED, { running: true }), { type: "commands", commands: [LISTED] });
  const output = panel.page.getByRole("region", { name: "Output" });
  assert.equal(await output.textContent(), "No output yet.");
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
  await panel.post({ type: "commands", commands: [{ ...LISTED, tail: `${lines}\u202e` }] });
  assert.match((await output.textContent()) ?? "", /^line 0\n.*line 99<U\+202E>$/s);
  assert.ok(await output.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 4));
  await output.evaluate((element) => { element.scrollTop = 0; });
  await panel.settle();
  await panel.post({ type: "commands", commands: [{ ...LISTED, tail: `${lines}\nmore` }] });
  assert.equal(await output.evaluate((element) => element.scrollTop), 0, "a reader who has scrolled up is left there");
});

inBrowser("a command is left running, listed above the input, and ended there", {}, async (panel) => {
  await panel.post(RUNNING, shown(ASKED, { running: true }), { type: "commands", commands: [LISTED] });
  await panel.page.getByRole("button", { name: "Leave Running" }).click();
  await panel.post({ type: "commands", commands: [{ ...LISTED, isLeft: true, tail: "ready" }] }, { type: "grown", conversationId: "c1", entries: [result("r1", "run_command", "ready")] });
  assert.equal(await panel.page.getByTestId("live-command").count(), 0);
  const list = panel.page.getByTestId("left-commands");
  await list.getByRole("button", { name: "npm start" }).click();
  assert.equal(await list.getByRole("region", { name: "Output" }).textContent(), "ready");
  await list.getByRole("button", { name: "End Command" }).click();
  await panel.post({ type: "commands", commands: [] });
  assert.equal(await list.count(), 0);
  assert.deepEqual((await panel.asked()).slice(1), [{ type: "command", id: "run-1", action: "leave" }, { type: "command", id: "run-1", action: "end" }]);
});

inBrowser("a command that ran without a question is marked, and its line and the mark give way for its state", { width: 170 }, async (panel) => {
  const command = "head -n 40 src/importer/formats/lines.py";
  const unasked = entry({ role: "toolResult", toolCallId: "r1", toolName: "run_command", content: [{ type: "text", text: "x" }], details: { exitCode: 0, readOnly: true } });
  await panel.post(RUNNING, shown([user("Read."), assistant(call("r1", "run_command", { command }), call("r2", "run_command", { command })), unasked, result("r2", "run_command", "x")]));
  const cards = panel.page.getByTestId("tool");
  assert.deepEqual([await cards.getByText("read-only", { exact: true }).count(), await cards.count()], [1, 2]);
  const [state, card] = [await cards.first().locator(".tool-state").boundingBox(), await cards.first().boundingBox()];
  assert.ok(state !== null && card !== null && state.width > 0 && state.x + state.width <= card.x + card.width);
});
