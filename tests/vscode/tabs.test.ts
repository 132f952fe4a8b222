// The chat in a tab of the editor, next to the one in the sidebar; and what marks a conversation that is not in sight.
import { equal, match } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const HELLO = { asks: "Hello from the sidebar.", answers: [{ text: "Hello to both." }] };

const PLAIN = {};

scene("the list and the status bar mark a conversation that waits, lead to it, and a key answers", PLAIN, async ({ window, provider }) => {
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

scene("a tab is marked while its conversation waits and runs, and a key denies", PLAIN, async ({ window, provider }) => {
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

scene("a chat is opened in the editor, an answer streams in both, and the tab is back after a reload", PLAIN, async ({ window, provider }) => {
  const sidebar = await window.openCoppice();
  await sidebar.play(provider, HELLO);
  await window.run("Coppice: Open Chat in Editor");
  const tab = window.chatInTab;
  await tab.replies.filter({ hasText: "Hello to both." }).waitFor();

  provider.turn({ text: "This takes its time, and is done now.", waits: true });
  await tab.send("Take your time.");
  for (const chat of [sidebar, tab]) {
    await chat.asked.filter({ hasText: "Take your time." }).waitFor();
    await chat.draft.waitFor();
    await chat.stop.waitFor();
  }
  await window.screenshot("chat-in-editor");
  provider.release();
  for (const chat of [sidebar, tab]) {
    await chat.replies.filter({ hasText: "and is done now" }).waitFor();
    await chat.rests();
    equal(await chat.asked.count(), 2);
  }

  await tab.input.fill("A draft of both");
  await until("the sidebar shows the draft", async () => (await sidebar.input.inputValue()) === "A draft of both");

  await window.run("Coppice: New Conversation");
  await tab.replies.first().waitFor({ state: "hidden" });
  await until("the tab has no draft", async () => (await tab.input.inputValue()) === "");
  equal(await sidebar.replies.count(), 2);
  await tab.play(provider, { asks: "Another subject.", answers: [{ text: "This is of the tab alone." }] });
  equal(await sidebar.asked.count(), 2);
  await tab.input.fill("A draft of the tab");
  await window.editorTab("Another subject.").waitFor();

  // The tab with what it shows, and what the extension keeps.
  await window.reloadOnceStored(/coppice\.chatTab.*Another subject\./s, /A draft of the tab/, /A draft of both/);
  await tab.replies.filter({ hasText: "of the tab alone" }).waitFor();
  equal(await tab.asked.count(), 1);
  await until("the tab has its draft", async () => (await tab.input.inputValue()) === "A draft of the tab");
  await window.openCoppice();
  await sidebar.replies.filter({ hasText: "and is done now" }).waitFor();
  await until("the sidebar has its draft", async () => (await sidebar.input.inputValue()) === "A draft of both");
});
