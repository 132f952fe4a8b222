// What is allowed once on a card, and how far the model may go without asking.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const SHOP = { files: { ...FILES, ".env": "KEY=1\n" } };

scene("a command that only reads runs without a card and without the terminal, and one that reads a secret shows a card", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  provider.turn({ calls: [["c1", "run_command", { command: "cat README.md" }]] });
  provider.turn({ calls: [["c2", "run_command", { command: "cat .env" }]] });
  provider.turn({ text: "It is a shop." });
  await chat.send("What is it?");
  await chat.approvals.filter({ hasText: "cat .env" }).getByRole("button", { name: "Deny" }).click();
  await chat.replies.filter({ hasText: "It is a shop." }).waitFor();
  await chat.rests();
  deepEqual(provider.asked.slice(1).map(({ messages }) => messages.at(-1)?.content), [`${FILES["README.md"]}[Exit code 0]`, "The user did not allow this."]);
  equal(await chat.frame.getByTestId("tool").getByText("read-only", { exact: true }).count(), 1);
  equal(await window.page.locator(".terminal-wrapper").count(), 0);
  await window.screenshot("read-only-command");

  const change = async (effect: string): Promise<void> => {
    await window.runAndChoose("Coppice: Permissions…", "Commands that only read");
    await window.choose(effect);
    await window.choices.filter({ hasText: "Commands that only read" }).filter({ hasText: effect }).waitFor();
    await window.page.keyboard.press("Escape");
    await window.choices.first().waitFor({ state: "hidden" });
  };
  await change("Ask each time");
  provider.turn({ calls: [["c3", "run_command", { command: "cat README.md" }]] });
  provider.turn({ text: "I was asked." });
  await chat.send("Read it again.");
  await chat.approvals.filter({ hasText: "cat README.md" }).getByRole("button", { name: "Deny" }).click();
  await chat.replies.filter({ hasText: "I was asked." }).waitFor();
  await chat.rests();
  await change("Allow");
});

scene("a rule allows the command after a reload, is listed, and refuses once it is changed", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  const runs = async (command: string, answer: string): Promise<void> => {
    provider.turn({ calls: [[`c-${answer}`, "run_command", { command }]] });
    provider.turn({ text: answer });
    await chat.send(`Run it: ${answer}`);
  };
  const answered = async (answer: string): Promise<string> => {
    await chat.replies.filter({ hasText: answer }).waitFor();
    await chat.rests();
    return JSON.stringify(provider.asked.at(-1)?.messages.at(-1));
  };
  await runs("echo price one", "First.");
  await chat.approvals.getByRole("group", { name: "echo price one" }).getByRole("button", { name: "In This Workspace" }).click();
  ok((await answered("First.")).includes("price one"));
  await window.reload();
  await window.openCoppice();
  await runs("echo price one", "Second.");
  ok((await answered("Second.")).includes("price one"));
  await runs("echo price one; echo three", "Third.");
  await chat.approvals.filter({ hasText: "echo three" }).getByRole("button", { name: "Deny" }).click();
  ok((await answered("Third.")).includes("did not allow"));

  await window.runAndChoose("Coppice: Permissions…", "echo price one");
  await window.choose("Deny");
  await window.choices.filter({ hasText: "Deny, in this workspace" }).waitFor();
  await window.page.keyboard.press("Escape");
  await window.choices.first().waitFor({ state: "hidden" });
  await runs("echo price one", "Fourth.");
  ok((await answered("Fourth.")).includes("refuses this"));
  equal(await chat.approvals.count(), 0);
});

scene("a plan is read, changed in its document and approved; then edits are made without asking, and commands are asked about", SHOP, async ({ editor, window, provider }) => {
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
  await until("the mode is shown", async () => (await mode.inputValue()) === "acceptEdits");
  equal(await chat.frame.getByText("Approve the plan").count(), 0);
});
