// A person who has no mouse: from a window without the chat to a branch, a compaction and back to the input.
import { deepEqual, equal, ok } from "node:assert/strict";
import type { Locator } from "playwright-core";
import type { Chat } from "./harness/chat.ts";
import { FILES, SUMMARY } from "./harness/example.ts";
import { type Scene, scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";
import type { Window } from "./harness/window.ts";

const KEEPING_LITTLE = { files: FILES, tools: "ask", settings: { "coppice.compaction.keepRecentTokens": 200 } } as const;
const PLAIN = {};
const TO_CHAT = "Control+Alt+C";
/** More steps by Tab than there are stops in the chat of this scene; a guess. */
const MOST_STOPS = 40;

/** Not where it is absent: a page that VS Code is making anew answers nothing. */
function isFocused(element: Locator): Promise<boolean> {
  const asked = element.evaluate((each) => each === each.ownerDocument.activeElement && each.ownerDocument.hasFocus(), undefined, { timeout: 2000 });
  return asked.catch(() => false);
}

async function waitForInput(chat: Chat): Promise<void> {
  await until("the input has the focus", () => isFocused(chat.input));
}

/** Goes backwards by Tab from what has the focus. */
async function tabBackTo({ page }: Window, element: Locator): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    const before = await element.evaluateHandle((each) => each.ownerDocument.activeElement);
    if (await element.evaluate((each, focused) => each === focused && each.ownerDocument.hasFocus(), before)) return;
    await page.keyboard.press("Shift+Tab");
    // Another step before this one has come about would pass by the element.
    await until("the focus has moved", () => element.evaluate((each, focused) => each.ownerDocument.activeElement !== focused || !each.ownerDocument.hasFocus(), before));
  }
  throw new Error("It was not reached by Tab.");
}

/** Counts the presses of the mouse in a document from now on. */
async function watchMouse(root: Locator): Promise<() => Promise<number>> {
  await root.evaluate((element) => {
    element.ownerDocument.addEventListener("pointerdown", () => { element.dataset["presses"] = String(Number(element.dataset["presses"] ?? 0) + 1); }, true);
  });
  return async () => Number((await root.getAttribute("data-presses")) ?? 0);
}

async function ask({ window, provider }: Scene, chat: Chat, text: string, answer: string): Promise<void> {
  provider.turn({ text: answer });
  await waitForInput(chat);
  await window.page.keyboard.type(text);
  await window.page.keyboard.press("Enter");
  await chat.replies.filter({ hasText: answer.slice(0, 40) }).waitFor();
  await chat.rests();
}

scene("the keyboard alone: a question, an approval, a branch, a compaction, and back to the input", KEEPING_LITTLE, async (played) => {
  const { window, provider } = played;
  const { chat, page } = window;
  const { keyboard } = page;
  const inWindow = await watchMouse(page.locator("html"));
  equal(await page.locator("iframe.webview").count(), 0);
  await keyboard.press(TO_CHAT);
  await waitForInput(chat);
  const inChat = await watchMouse(chat.frame.locator("html"));

  provider.turn({ text: "I'll look.", calls: [["call-1", "read_file", { path: "src/prices.py" }]] });
  provider.turn({ text: "Prices are floats." });
  await keyboard.type("How are prices kept?");
  await keyboard.press("Enter");
  const card = chat.approvals.filter({ hasText: "Use read_file" });
  await card.waitFor();
  await until("the card leaves the focus in the input", () => isFocused(chat.input));
  await tabBackTo(window, card.getByRole("button", { name: "Allow", exact: true }));
  await keyboard.press("Space");
  await chat.replies.filter({ hasText: "Prices are floats." }).waitFor();
  await chat.rests();

  await ask(played, chat, "Plan the move to cents.", "A plan: each part of the shop keeps cents. ".repeat(120));
  await ask(played, chat, "Try cents.", "Cents it is: sums are exact.");

  provider.turn({ text: "Decimal it is: slower, and exact." });
  await tabBackTo(window, chat.asked.filter({ hasText: "Try cents." }).getByRole("button", { name: "Edit and Resend" }));
  await keyboard.press("Enter");
  await until("the message is edited", () => isFocused(chat.frame.getByRole("textbox", { name: "Edited message" })));
  // VS Code selects everything once more, some time after Control+A.
  await keyboard.press("Control+Home");
  await keyboard.press("Control+Shift+End");
  await keyboard.type("Try Decimal.");
  await keyboard.press("Enter");
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();
  await chat.rests();
  await chat.asked.filter({ hasText: "Try Decimal." }).waitFor();

  await window.run("Coppice: Switch Branch…");
  await window.choices.filter({ hasText: "Cents it is" }).waitFor();
  await keyboard.type("Cents it is");
  await window.choices.filter({ hasText: "Decimal it is" }).waitFor({ state: "hidden" });
  await keyboard.press("Enter");
  await window.choices.filter({ hasText: "No summary" }).waitFor();
  await keyboard.press("Enter");
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  equal(await chat.replies.filter({ hasText: "Decimal it is" }).count(), 0);

  provider.summaries({ text: SUMMARY });
  await window.run("Coppice: Compact Conversation");
  await chat.compactions.waitFor();
  await chat.rests();

  await keyboard.press("Control+Shift+E");
  await until("the focus is elsewhere", async () => !(await isFocused(chat.input)));
  await keyboard.press(TO_CHAT);
  await ask(played, chat, "Are you still there?", "I am, in cents.");
  await window.screenshot("keyboard-only");
  deepEqual([await inWindow(), await inChat()], [0, 0]);
});

scene("the chat's own keys work while the sidebar has the focus", PLAIN, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, { asks: "Who are you?", answers: [{ text: "The model of the scene." }] });
  await chat.frame.getByTestId("context-meter").focus();
  await window.page.keyboard.press(TO_CHAT);
  await waitForInput(chat);
  await window.page.keyboard.press("Control+Alt+N");
  await until("a new conversation is shown", async () => (await chat.asked.count()) === 0);
});

scene("the chat has the secondary side bar to itself, and lists leave it its whole height", PLAIN, async ({ window }) => {
  const chat = await window.openCoppice();
  const secondary = window.page.locator(".part.auxiliarybar");
  for (const view of ["Branches", "Files", "Ledger", "Conversations"]) {
    equal(await secondary.getByRole("button", { name: `${view} Section` }).count(), 0);
    await window.expand(view);
  }
  const [page, bar] = await Promise.all([chat.frame.locator("body").boundingBox(), secondary.boundingBox()]);
  ok(page !== null && bar !== null && page.height > 0.85 * bar.height, `the chat has ${page?.height} of ${bar?.height} pixels`);
  await window.screenshot("chat-beside-lists");

  await window.page.keyboard.press("Control+Alt+B"); // VS Code's own: hides the secondary side bar.
  await secondary.waitFor({ state: "hidden" });
  await window.run("Coppice: Focus on Chat View");
  await waitForInput(chat);
  await window.widenChat(640);
  await window.screenshot("chat-beside-lists-wide");
  await window.widenChat(300); // The panel next to a wider one has no room for the name of its view.

  await window.run("View: Move Secondary Side Bar Views To Panel");
  const inPanel = window.page.locator(".part.panel").getByRole("tab", { name: "Coppice" });
  await inPanel.waitFor();
  await window.reloadOnceStored(/^views\.customizations .*"workbench\.view\.extension\.coppiceChat":1/);
  await waitForInput(await window.openCoppice());
  // The width may not have been stored before the reload: then there is room for the view's buttons only.
  await inPanel.or(window.page.locator(".part.panel").getByRole("button", { name: "New Conversation" })).first().waitFor();
});
