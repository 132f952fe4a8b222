// What is allowed once on a card: it holds for more of the same, is listed, and can be refused there.
import { deepEqual, equal, ok } from "node:assert/strict";
import { scene } from "./harness/scene.ts";

scene("a rule allows the command after a reload, is listed, and refuses once it is changed", {}, async ({ window, provider }) => {
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

scene("a command that only reads runs without a card and without the terminal, and one that reads a secret shows a card", { files: { ".env": "KEY=1\n" } }, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  provider.turn({ calls: [["c1", "run_command", { command: "cat README.md" }]] });
  provider.turn({ calls: [["c2", "run_command", { command: "cat .env" }]] });
  provider.turn({ text: "It is a shop." });
  await chat.send("What is it?");
  await chat.approvals.filter({ hasText: "cat .env" }).getByRole("button", { name: "Deny" }).click();
  await chat.replies.filter({ hasText: "It is a shop." }).waitFor();
  await chat.rests();
  deepEqual(provider.asked.slice(1).map(({ messages }) => messages.at(-1)?.content), ["# Shop\n[Exit code 0]", "The user did not allow this."]);
  equal(await chat.frame.getByTestId("tool").getByText("read-only", { exact: true }).count(), 1);
  equal(await window.page.locator(".terminal-wrapper").count(), 0);
  await window.screenshot("read-only-command");

  await window.runAndChoose("Coppice: Permissions…", "Commands that only read");
  await window.choose("Ask each time");
  await window.choices.filter({ hasText: "Commands that only read" }).filter({ hasText: "Ask each time" }).waitFor();
  await window.page.keyboard.press("Escape");
  await window.choices.first().waitFor({ state: "hidden" });
  provider.turn({ calls: [["c3", "run_command", { command: "cat README.md" }]] });
  provider.turn({ text: "I was asked." });
  await chat.send("Read it again.");
  await chat.approvals.filter({ hasText: "cat README.md" }).getByRole("button", { name: "Deny" }).click();
  await chat.replies.filter({ hasText: "I was asked." }).waitFor();
  await chat.rests();
});
