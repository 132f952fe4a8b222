// A question in a conversation that is not in sight: it is marked, led to, and answered with a key.
import { match } from "node:assert/strict";
import { scene } from "./harness/scene.ts";

scene("the list and the status bar mark a conversation that waits, lead to it, and a key answers", {}, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  provider.turn({ calls: [["c1", "run_command", { command: "echo seven" }]] });
  provider.turn({ text: "It printed seven." });
  await chat.send("Count.");
  await chat.approvals.filter({ hasText: "until the window is closed" }).waitFor();
  await window.page.keyboard.press("Control+Alt+N");
  await chat.approvals.waitFor({ state: "hidden" });
  await chat.frame.getByTestId("other-waits").waitFor();
  await window.expand("Conversations");
  await window.rows("Conversations").filter({ hasText: "waits for approval" }).filter({ hasText: "Count." }).waitFor();
  await window.screenshot("waiting-elsewhere");
  await window.notifications.filter({ hasText: "waits for your approval" }).waitFor({ state: "hidden" });
  await window.statusBar.getByRole("button", { name: /Approval needed/ }).click();
  await chat.approvals.waitFor();
  await chat.answerByKey("Control+Alt+Y");
  await chat.replies.filter({ hasText: "It printed seven." }).waitFor();
  await chat.rests();
  match(JSON.stringify(provider.asked.at(-1)?.messages.at(-1)), /seven/);
});

scene("a tab is marked while its conversation waits and runs, and a key denies", {}, async ({ window, provider }) => {
  await window.openCoppice();
  await window.run("Coppice: Open Chat in Editor");
  const chat = window.chatInTab;
  provider.turn({ calls: [["c1", "run_command", { command: "echo seven" }]] });
  provider.turn({ text: "Nothing was run.", waits: true });
  await chat.send("Count.");
  await chat.approvals.waitFor();
  await window.editorTab("(!) Count.").waitFor();
  await window.screenshot("tab-waits");
  await chat.answerByKey("Control+Alt+D");
  await window.editorTab("▸ Count.").waitFor();
  provider.release();
  await chat.replies.filter({ hasText: "Nothing was run." }).waitFor();
  await chat.rests();
  await window.editorTab("▸ Count.").waitFor({ state: "hidden" });
  await window.editorTab("Count.").waitFor();
  match(JSON.stringify(provider.asked.at(-1)?.messages.at(-1)), /The user did not allow this/);
});
