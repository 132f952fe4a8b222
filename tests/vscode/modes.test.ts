// How far the model may go without asking: a plan that is changed and approved, and edits that are accepted.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";

scene("a plan is read, changed in its document and approved; then edits are made without asking, and commands are asked about", { files: FILES }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const mode = chat.frame.getByTestId("mode");
  await mode.selectOption("plan");
  provider.turn({ calls: [["w1", "write_file", { path: "early.txt", content: "" }]] });
  provider.turn({ calls: [["p1", "present_plan", { plan: "# Cents\n\n1. Divide by 100." }]] });
  provider.turn({ calls: [["e1", "edit_file", { path: "src/api.py", edits: [{ oldText: "item.price}", newText: "item.price_cents / 100}" }] }], ["c1", "run_command", { command: "echo checked" }]] });
  provider.turn({ text: "It is done." });
  await chat.send("Let the API divide cents by 100.");

  await chat.approvals.getByRole("heading", { name: "Cents" }).waitFor();
  equal(existsSync(join(editor.workspace, "early.txt")), false);
  await chat.approvals.getByRole("button", { name: "Change the Plan…" }).click();
  await window.editorText.filter({ hasText: "Divide by 100." }).click();
  await window.page.keyboard.press("Control+End");
  await window.page.keyboard.type(" And run the check.");
  await chat.approvals.getByRole("button", { name: "Approve and Accept Edits" }).click();
  await chat.approvals.filter({ hasText: "echo checked" }).getByRole("button", { name: "Allow", exact: true }).click();
  await chat.replies.filter({ hasText: "It is done." }).waitFor();
  await chat.rests();

  const names = (at: number): string[] => (provider.asked[at]?.tools ?? []).map((tool) => tool.function.name);
  ok(names(0).includes("present_plan") && !names(0).includes("edit_file") && !names(0).includes("run_command"));
  match(JSON.stringify(provider.asked[0]?.messages[0]), /plan only/);
  match(JSON.stringify(provider.asked[1]?.messages.at(-1)), /There is no such tool/);
  ok(names(2).includes("edit_file") && !names(2).includes("present_plan"));
  match(JSON.stringify(provider.asked[2]?.messages.at(-1)), /changed the plan.*And run the check/);
  match(readFileSync(join(editor.workspace, "src/api.py"), "utf8"), /price_cents \/ 100/);
  equal(await mode.inputValue(), "acceptEdits");
  await window.reload();
  await window.openCoppice();
  deepEqual([await mode.inputValue(), await chat.frame.getByText("Approve the plan").count()], ["acceptEdits", 0]);
});
