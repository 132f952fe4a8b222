import assert from "node:assert/strict";

import { inBrowser, type PanelPage } from "./panel";
import { CONVERSATION, EDIT, RUNNING, shown, TALK } from "./samples";

const FILE = { icon: "file", label: "src/reader.py", attachment: { kind: "file" as const, path: "src/reader.py" } };
const SYMBOL = { icon: "symbol-method", label: "read_lines", detail: "src/reader.py:12", attachment: { kind: "lines" as const, path: "src/reader.py", start: 12, end: 20, name: "read_lines" } };

async function last(panel: PanelPage, type: string) {
  return (await panel.asked()).findLast((message) => message.type === type);
}

inBrowser("a file is attached by @ with the keyboard alone, shown, and removed again", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("Look at @read");
  await panel.page.waitForFunction(() => (globalThis as unknown as { posted: { query?: string }[] }).posted.some(({ query }) => query === "read"));
  const asked = await last(panel, "complete");
  assert.ok(asked?.type === "complete" && asked.query === "read");
  await panel.post({ type: "completions", request: asked.request, items: [FILE, SYMBOL] });
  assert.equal(await panel.page.getByTestId("suggestions").getByRole("option").count(), 2);
  // What is offered can be clicked: nothing covers it, and nothing cuts it off.
  await panel.page.getByTestId("suggestions").getByRole("option").first().hover();
  await panel.page.mouse.move(0, 0);
  await input.press("ArrowDown");
  const active = await input.getAttribute("aria-activedescendant");
  assert.match((await panel.page.locator(`[id="${active ?? ""}"]`).textContent()) ?? "", /read_lines/);
  await input.press("Enter");
  assert.deepEqual(await last(panel, "attach"), { type: "attach", attachment: SYMBOL.attachment });
  assert.equal(await input.inputValue(), "Look at @read_lines ");
  assert.equal(await panel.page.getByTestId("suggestions").count(), 0);
  await panel.post({ type: "attachments", conversationId: "c1", attachments: [SYMBOL.attachment] }, { type: "openFile", path: "src/open.py" });
  await panel.page.getByRole("button", { name: "Attach src/open.py, the open file" }).click();
  await panel.page.getByRole("button", { name: "Remove read_lines" }).click();
  assert.deepEqual(await last(panel, "detach"), { type: "detach", at: 0 });
  assert.deepEqual(panel.complaints, []);
});

inBrowser("slash commands are completed, and Escape closes the list without changing the text", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("/co");
  await input.press("Tab");
  await input.pressSequentially("the public API");
  await input.press("Enter");
  assert.deepEqual(await last(panel, "slash"), { type: "slash", command: "compact", argument: "the public API" });
  await input.pressSequentially("/");
  await input.press("Escape");
  assert.equal(await panel.page.getByTestId("suggestions").count(), 0);
  assert.equal(await last(panel, "stop"), undefined);
});

inBrowser("a key that is pressed right after a completion was chosen comes after its text", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("/co");
  const value = await input.evaluate(async (element: HTMLTextAreaElement) => {
    element.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", bubbles: true, cancelable: true }));
    await Promise.resolve();
    const type = (text: string): void => {
      element.setRangeText(text, element.selectionStart, element.selectionEnd, "end");
      element.dispatchEvent(new InputEvent("input", { bubbles: true }));
    };
    type("t");
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    type("he API");
    return element.value;
  });
  assert.equal(value, "/compact the API");
});

inBrowser("earlier messages come back with the arrow keys, and a text that was begun is left alone", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  const sent = await panel.page.getByTestId("user").count();
  await input.press("ArrowUp");
  const newest = await input.inputValue();
  assert.notEqual(newest, "");
  for (let at = 1; at < sent; at += 1) await input.press("ArrowUp");
  for (let at = 1; at < sent; at += 1) await input.press("ArrowDown");
  assert.equal(await input.inputValue(), newest);
  await input.press("ArrowDown");
  assert.equal(await input.inputValue(), "");
  await input.fill("mine");
  await input.press("ArrowUp");
  assert.equal(await input.inputValue(), "mine");
});

inBrowser("a message can be sent while a turn runs, and what waits can be acted on", { width: 280 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }));
  const input = panel.page.getByTestId("message-input");
  await input.fill("And the tests?");
  await input.press("Enter");
  assert.deepEqual(await last(panel, "send"), { type: "send", text: "And the tests?" });
  await panel.post({ type: "queue", conversationId: "c1", messages: [{ id: "q1", text: "And the tests?", attached: 1 }] });
  await panel.page.getByRole("button", { name: "Stop the Turn and Send Now" }).click();
  assert.deepEqual(await last(panel, "queued"), { type: "queued", id: "q1", action: "now" });
});

inBrowser("a pasted picture is attached", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  await panel.page.getByTestId("message-input").evaluate((element) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([1, 2, 3])], "shot.png", { type: "image/png" }));
    data.items.add(new File(["x"], "evil.svg", { type: "image/svg+xml" }));
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await panel.page.waitForFunction(() => (globalThis as unknown as { posted: { type: string }[] }).posted.some(({ type }) => type === "attach"));
  assert.deepEqual(await last(panel, "attach"), { type: "attach", attachment: { kind: "image", name: "shot.png", mimeType: "image/png", data: "AQID" } });
});

inBrowser("the input keeps its focus, its text and its selection when the first message makes the conversation", {}, async (panel) => {
  await panel.post(RUNNING, shown([], { conversation: null }));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("Hello");
  await input.press("Enter");
  await input.evaluate((element) => { element.dataset["mine"] = "yes"; });
  await input.pressSequentially("The next one");
  await input.press("Shift+Home");
  await panel.post(shown([], { isMade: true, running: true }), shown(TALK));
  const state = await input.evaluate((element) => {
    const { value, selectionStart, selectionEnd, dataset } = element as HTMLTextAreaElement;
    return { value, selected: [selectionStart, selectionEnd], isSame: dataset["mine"] === "yes", isFocused: element === document.activeElement };
  });
  assert.deepEqual(state, { value: "The next one", selected: [0, 12], isSame: true, isFocused: true });
  assert.deepEqual((await panel.remembered()).drafts, { c1: "The next one" });
});

inBrowser("what is begun for a new conversation stays there when another one is opened, and the input keeps the focus", {}, async (panel) => {
  await panel.post(RUNNING, shown([], { conversation: null }));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("For a new one");
  for (const [conversation, text] of [[CONVERSATION, ""], [null, "For a new one"], [{ ...CONVERSATION, id: "c2" }, ""]] as const) {
    await panel.post(shown([], { conversation }));
    assert.equal(await input.inputValue(), text);
    assert.ok(await input.evaluate((element) => element === document.activeElement));
  }
});

inBrowser("the focus goes to the input after a card is answered, a message edited, and a branch left", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK), { type: "approvals", approvals: [EDIT] });
  const { page } = panel;
  const input = page.getByTestId("message-input");
  const waitForFocus = () => page.waitForFunction(() => document.activeElement?.matches("[data-testid=message-input]") === true);
  await page.getByRole("button", { name: "Allow", exact: true }).press("Enter");
  await panel.post({ type: "approvals", approvals: [] });
  await waitForFocus();

  for (const key of ["Escape", "Enter"]) {
    await page.getByRole("button", { name: "Edit and Resend" }).first().press("Enter");
    await page.getByRole("textbox", { name: "Edited message" }).press(key);
    await waitForFocus();
  }

  await panel.post(shown(TALK, { preview: { leafId: "other" } }));
  assert.equal(await input.count(), 0);
  await page.getByRole("button", { name: "Back to the Current Branch" }).press("Enter");
  await panel.post(shown(TALK));
  await waitForFocus();
});

inBrowser("a command that is typed out needs one Enter, and a begun one is completed first", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  await input.pressSequentially("/compact");
  await input.press("Enter");
  assert.deepEqual(await last(panel, "slash"), { type: "slash", command: "compact", argument: "" });
  await input.pressSequentially("/comp");
  await input.press("Enter");
  assert.equal(await input.inputValue(), "/compact ");
});

inBrowser("the page's focus goes to the input, unless a click gave it", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const input = panel.page.getByTestId("message-input");
  const isFocused = () => input.evaluate((element) => element === document.activeElement);
  await panel.page.evaluate(() => { dispatchEvent(new PointerEvent("pointerdown")); dispatchEvent(new Event("focus")); });
  // Longer than a click may follow the focus.
  await panel.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 250)));
  await panel.settle();
  assert.equal(await isFocused(), false);
  await panel.page.evaluate(() => { dispatchEvent(new Event("focus")); });
  await panel.page.waitForFunction(() => document.activeElement?.matches("[data-testid=message-input]") === true);
});

inBrowser("a page that has the focus from the start gives it to the input", { hasFocus: true }, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  await panel.page.waitForFunction(() => document.activeElement?.matches("[data-testid=message-input]") === true);
});
