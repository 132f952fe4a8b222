/** What surrounds a message: its menu, its alternatives, where the model's view begins, and branches that are looked at. */
import assert from "node:assert/strict";

import type { OutlineResult } from "../../src/protocol.gen";
import { inBrowser, type PanelPage } from "./panel";
import { assistant, call, COMMAND, COMPACTION, entry, result, RUNNING, shown, user } from "./samples";

const QUESTION = user("Which part is first?");
const ANSWER = assistant("The prices.", call("t1", "read", { path: "a" }));
const RESULT = result("t1", "read", "text");
const FOLLOWING = [user("And then?"), assistant("The API.")];
const TALK = [QUESTION, ANSWER, RESULT, ...FOLLOWING];

function outline(more: Partial<OutlineResult> = {}): OutlineResult {
  return { leafId: TALK.at(-1)?.id ?? "", length: TALK.length, compactions: [], marks: [], forks: [], ...more };
}

async function openMenu({ page }: PanelPage, testId: "user" | "assistant", at = 0): Promise<void> {
  await page.getByTestId(testId).nth(at).getByRole("button", { name: "More Actions" }).press("Enter");
  await page.getByRole("menu").waitFor();
}

inBrowser("the menu of a message is used with the keyboard alone", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { outline: outline() }));
  const { page } = panel;
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "");
  await openMenu(panel, "assistant");
  assert.equal(await focused(), "Copy Message");
  const names = [];
  for (let at = 0; at < 5; at += 1) {
    names.push(await focused());
    await page.keyboard.press("ArrowDown");
  }
  assert.deepEqual(names, ["Copy Message", "Pin", "Label…", "Fork from Here", "Go Here"]);
  assert.equal(await focused(), "Copy Message");
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("menu").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "More Actions");

  for (const keys of [["ArrowDown"], ["ArrowDown", "ArrowDown"], ["End", "ArrowUp"], ["End"]]) {
    await page.keyboard.press("Enter");
    for (const key of keys) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
  }
  const id = ANSWER.id;
  // What follows the message is where it ends: its last tool result.
  assert.deepEqual((await panel.asked()).slice(1), [
    { type: "onMessage", entryId: id, action: "pin" },
    { type: "onMessage", entryId: id, action: "label" },
    { type: "onMessage", entryId: RESULT.id, action: "fork" },
    { type: "onMessage", entryId: RESULT.id, action: "goTo" },
  ]);
});

inBrowser("a click elsewhere closes the menu, and nothing goes elsewhere while a turn runs", { height: 400 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { outline: outline(), running: true }));
  const { page } = panel;
  await openMenu(panel, "user", 1);
  const box = await page.getByRole("menu").boundingBox();
  assert.ok(box !== null && box.y >= 0 && box.y + box.height <= 400, JSON.stringify(box));
  const go = page.getByRole("menuitem", { name: "Go Here" });
  assert.equal(await go.getAttribute("aria-disabled"), "true");
  await go.evaluate((element: HTMLElement) => { element.click(); });
  assert.deepEqual((await panel.asked()).map(({ type }) => type), ["ready"]);
  await page.getByRole("textbox", { name: "Message" }).click();
  await page.getByRole("menu").waitFor({ state: "detached" });
});

inBrowser("labels, pins and the place among the alternatives are shown with their message, and follow changes", {}, async (panel) => {
  const { id } = QUESTION;
  const forks = [{ entryId: id, alternatives: ["a", id, "c"] }];
  await panel.post(RUNNING, shown(TALK, { outline: outline({ forks }) }));
  const { page } = panel;
  const group = page.getByRole("group", { name: "Alternatives" });
  assert.match(await group.innerText(), /2\/3$/);
  await group.getByRole("button", { name: "Previous Alternative" }).click();
  await group.getByRole("button", { name: "Next Alternative" }).click();
  assert.deepEqual((await panel.asked()).slice(1), [{ type: "showAlternative", entryId: "a" }, { type: "showAlternative", entryId: "c" }]);
  await panel.post({ type: "outline", conversationId: "c1", outline: outline({ forks: [{ entryId: id, alternatives: ["a", id] }], marks: [{ entryId: id, label: "the plan", pinned: true }] }) });
  assert.match(await group.innerText(), /2\/2$/);
  assert.ok(await group.getByRole("button", { name: "Next Alternative" }).isDisabled());
  await page.getByText("the plan").waitFor();
  await page.getByText("Pinned").waitFor();
  await openMenu(panel, "user");
  await page.getByRole("menuitem", { name: "Unpin" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "onMessage", entryId: id, action: "unpin" });
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.ok(await group.getByRole("button", { name: "Previous Alternative" }).isDisabled());
});

inBrowser("a line is drawn where the model's view begins, and the rail leads to each compaction", { height: 500 }, async (panel) => {
  const compactions = [
    { entryId: "not-read-yet", depth: 2 },
    { entryId: COMPACTION.id, depth: 90, firstKeptEntryId: FOLLOWING[0]?.id ?? "" },
  ];
  await panel.post(RUNNING, shown([...TALK, COMPACTION], { nextBefore: QUESTION.id, outline: outline({ length: 100, compactions }) }));
  const { page } = panel;
  const line = page.getByTestId("view-line");
  assert.equal(await line.count(), 1);
  assert.equal(await line.evaluate((element) => element.parentElement?.dataset["entry"]), FOLLOWING[0]?.id);
  await page.getByRole("button", { name: "Compaction 2 of 2" }).click();
  await page.locator(".found").waitFor();
  assert.equal(await page.locator(".found").getAttribute("data-entry"), COMPACTION.id);
  await page.getByRole("button", { name: "Compaction 1 of 2" }).press("Enter");
  assert.deepEqual((await panel.asked()).at(-1), { type: "showEntry", entryId: "not-read-yet" });
  const many = Array.from({ length: 300 }, (_, at) => ({ entryId: `x${at}`, depth: at }));
  await panel.post({ type: "outline", conversationId: "c1", outline: outline({ length: 300, compactions: many }) });
  assert.ok((await page.getByTestId("rail").getByRole("button").count()) <= 21);
});

inBrowser("a branch that is looked at has no input, and leads there or back", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { outline: outline(), preview: { leafId: "l" } }));
  const { page } = panel;
  assert.equal(await page.getByRole("textbox", { name: "Message" }).count(), 0);
  assert.ok(await page.getByRole("button", { name: "Edit and Resend" }).first().isDisabled());
  await page.getByTestId("preview").getByRole("button", { name: "Go Here" }).click();
  await page.getByRole("button", { name: "Back to the Current Branch" }).click();
  assert.deepEqual((await panel.asked()).slice(1), [{ type: "endPreview", action: "goTo" }, { type: "endPreview", action: "close" }]);
  await panel.post(shown(TALK, { outline: outline() }));
  assert.equal(await page.getByTestId("preview").count(), 0);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
});

inBrowser("the sections of a summary fold, and its references lead to their entries", {}, async (panel) => {
  await panel.post(RUNNING, shown([COMPACTION, ...TALK]));
  const card = panel.page.getByTestId("compaction");
  await card.getByRole("button").first().click();
  await card.getByText("Keep the last line of imported files.").waitFor();
  await card.getByRole("button", { name: "Goal" }).press("Enter");
  assert.equal(await card.getByText("Keep the last line of imported files.").count(), 0);
  await card.getByRole("button", { name: "#26c4206e" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "showEntry", entryId: "26c4206e" });
});

inBrowser("columns keep their alignment, and numbers of any length are in sight", {}, async (panel) => {
  const list = Array.from({ length: 12 }, (_, at) => `${at + 99_995}. item`).join("\n");
  await panel.post(RUNNING, shown([assistant(`| a | b | c |\n|---|--:|:-:|\n| 1 | 2 | 3 |\n\n${list}`)]));
  const { page } = panel;
  const sides = await page.locator("td").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
  assert.deepEqual(sides, ["left", "right", "center"]);
  // The number is drawn in the padding, six digits and a dot.
  const { padding, digit } = await page.locator("ol").evaluate((element) => {
    const canvas = document.createElement("canvas").getContext("2d");
    if (canvas === null) throw new Error("no canvas");
    const style = getComputedStyle(element);
    canvas.font = style.font;
    return { padding: parseFloat(style.paddingLeft), digit: canvas.measureText("100006.").width };
  });
  assert.ok(padding >= digit, `${padding} pixels for ${digit}`);
});

inBrowser("a denial is no failure, and a path loses its folders before its name", { width: 200 }, async (panel) => {
  const refused = entry({ role: "toolResult", toolCallId: "d1", toolName: "read", isError: true, content: [{ type: "text", text: "No." }], details: { denied: true } });
  const failed = entry({ role: "toolResult", toolCallId: "d2", toolName: "read", isError: true, content: [{ type: "text", text: "No." }] });
  await panel.post(RUNNING, shown([user("Read."), assistant(call("d1", "read", { path: "src/importer/formats/lines.py" }), call("d2", "read", { path: "b" })), refused, failed]));
  const [first, second] = [panel.page.getByTestId("tool").nth(0), panel.page.getByTestId("tool").nth(1)];
  assert.deepEqual([await first.locator(".tool-state").textContent(), await second.locator(".tool-state").textContent()], ["denied ", "failed "]);
  const isCut = (part: string) => first.locator(part).evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.deepEqual([await isCut(".short-path-folders"), await isCut(".short-path-name")], [true, false]);
});

inBrowser("a tool runs until it has a result, while its question waits too, and has none where its turn was stopped", {}, async (panel) => {
  const entries = [user("Look."), assistant(call("t1", "run_command", { command: "ls" }), call("t2", "run_command", { command: "make" })), result("t1", "run_command", "a b")];
  const states = async () => (await panel.page.getByTestId("tool").locator(".tool-state").allTextContents()).map((text) => text.trim());
  await panel.post(RUNNING, shown(entries, { running: true }), { type: "approvals", approvals: [{ ...COMMAND, toolCallId: "t2" }] });
  assert.deepEqual([await states(), await panel.page.getByTestId("approval").count()], [["done", "running"], 1]);
  await panel.post({ type: "approvals", approvals: [] }, shown(entries));
  assert.deepEqual([await states(), await panel.page.getByTestId("approval").count()], [["done", "no result"], 0]);
  await panel.post(shown([...entries, result("t2", "run_command", "made")]));
  assert.deepEqual(await states(), ["done", "done"]);
});
