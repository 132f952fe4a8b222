// What is allowed once on a card: it holds for more of the same, is listed, and can be refused there.
import { equal, ok } from "node:assert/strict";
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
