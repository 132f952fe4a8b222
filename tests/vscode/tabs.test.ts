// The chat in a tab of the editor, next to the one in the sidebar.
import { equal } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";
import type { Window } from "./harness/window.ts";

const HELLO = { asks: "Hello from the sidebar.", answers: [{ text: "Hello to both." }] };

/** Waits until VS Code has stored the tab with this title, and so which conversation it shows; in a browser it does so every few seconds. */
async function waitForStoredTab({ page }: Window, title: string): Promise<void> {
  await until("the tab is stored", () => page.evaluate(async (wanted) => {
    const values = async (name: string): Promise<unknown[]> => {
      const opened = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => { resolve(request.result); };
        request.onerror = () => { reject(new Error(name)); };
      });
      try {
        const all = [...opened.objectStoreNames].map((store) => new Promise<unknown[]>((resolve) => {
          const request = opened.transaction(store).objectStore(store).getAll();
          request.onsuccess = () => { resolve(request.result as unknown[]); };
          request.onerror = () => { resolve([]); };
        }));
        return (await Promise.all(all)).flat();
      } finally {
        opened.close();
      }
    };
    const databases = await indexedDB.databases();
    const stored = (await Promise.all(databases.map(({ name }) => values(name ?? "")))).flat();
    return stored.some((value) => typeof value === "string" && value.includes("coppice.chatTab") && value.includes(wanted));
  }, title));
}

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

  await waitForStoredTab(window, "Another subject.");
  await window.reloadWithLayout();
  await tab.replies.filter({ hasText: "of the tab alone" }).waitFor();
  equal(await tab.asked.count(), 1);
  await until("the tab has its draft", async () => (await tab.input.inputValue()) === "A draft of the tab");
  await window.openCoppice();
  await sidebar.replies.filter({ hasText: "and is done now" }).waitFor();
  await until("the sidebar has its draft", async () => (await sidebar.input.inputValue()) === "A draft of both");
});
