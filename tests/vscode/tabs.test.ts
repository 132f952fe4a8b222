// The chat in a tab of the editor, next to the one in the sidebar.
import { equal } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const HELLO = { asks: "Hello from the sidebar.", answers: [{ text: "Hello to both." }] };

scene("a chat is opened in the editor, an answer streams in both, and the tab is back after a reload", {}, async ({ window, provider }) => {
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
  equal(await tab.input.inputValue(), "");
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
