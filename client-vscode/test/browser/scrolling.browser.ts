/** Where the reader is in a conversation: at its end, at a place of before, at what was looked for. */
import assert from "node:assert/strict";

import type { Entry } from "../../src/protocol.gen";
import { inBrowser, PanelPage } from "./panel";
import { assistant, call, COMPACTION, result, RUNNING, shown, user } from "./samples";

const LONG: readonly Entry[] = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(`Answer ${at}.\n\nIt has two paragraphs.`)));

async function distanceFromEnd(panel: PanelPage): Promise<number> {
  // Sizes of what comes into sight for the first time settle in the next frames.
  await panel.settle();
  return panel.page.evaluate(() => {
    const frame = document.querySelector(".log-scroll");
    return frame ? frame.scrollHeight - frame.scrollTop - frame.clientHeight : NaN;
  });
}

async function scrollTo(panel: PanelPage, top: number): Promise<void> {
  await panel.page.evaluate((to) => document.querySelector(".log-scroll")?.scrollTo({ top: to }), top);
  await panel.settle();
}

inBrowser("a page that is made anew has the text and the place of before", {}, async (panel) => {
  await panel.post(RUNNING, shown(LONG));
  await panel.page.getByRole("textbox", { name: "Message" }).fill("kept");
  await scrollTo(panel, 700);
  const topOf = ({ page }: PanelPage) => page.getByText("Answer 21.").evaluate((element) => element.getBoundingClientRect().top);
  const before = await topOf(panel);
  await panel.page.waitForFunction(() => (globalThis as unknown as { posted: { place?: unknown }[] }).posted.some(({ place }) => place !== undefined));

  const again = await PanelPage.open();
  await again.post(RUNNING, { type: "memory", memory: await panel.remembered() }, shown(LONG));
  assert.equal(await again.page.getByRole("textbox", { name: "Message" }).inputValue(), "kept");
  assert.ok(Math.abs((await topOf(again)) - before) < 24, `at ${await topOf(again)} instead of ${before}`);
  await again.close();
});

inBrowser("the end stays in sight while the conversation grows, until the reader scrolls up", {}, async (panel) => {
  await panel.post(RUNNING, shown(LONG, { running: true }));
  assert.ok((await distanceFromEnd(panel)) < 2);
  const more = (text: string) => panel.post({ type: "update" as const, conversationId: "c1", update: { kind: "text" as const, text } });
  await more("A reply that grows.\n\n".repeat(20));
  assert.ok((await distanceFromEnd(panel)) < 2);

  await scrollTo(panel, 200);
  await more("And more.\n\n".repeat(20));
  const top = await panel.page.evaluate(() => document.querySelector(".log-scroll")?.scrollTop ?? 0);
  assert.ok(Math.abs(top - 200) < 60, `scrolled to ${top}`);

  await panel.page.getByRole("button", { name: "Scroll to the End" }).click();
  assert.ok((await distanceFromEnd(panel)) < 2);
});

inBrowser("a conversation opens at its end, however far its sizes are from the guess, and stays there", {}, async (panel) => {
  const reply = "A paragraph of a reply that takes some lines in a narrow panel.\n\n".repeat(60);
  const entries = Array.from({ length: 160 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(at < 80 ? "Short." : reply)));
  await panel.post(RUNNING, shown(entries));
  assert.ok((await distanceFromEnd(panel)) < 2);
  assert.equal(await panel.page.getByRole("button", { name: "Scroll to the End" }).count(), 0);
  await panel.resize({ width: 200, height: 500 });
  assert.ok((await distanceFromEnd(panel)) < 2);

  await panel.page.locator(".log-scroll").hover();
  await panel.page.mouse.wheel(0, -600);
  await panel.page.getByRole("button", { name: "Scroll to the End" }).waitFor();
  await panel.settle(); // A wheel scrolls for some frames.
  await panel.page.getByRole("button", { name: "Scroll to the End" }).click();
  assert.ok((await distanceFromEnd(panel)) < 2);
});

inBrowser("earlier messages come in front of what is read, once its start is scrolled to", {}, async (panel) => {
  const asked = async () => (await panel.asked()).filter(({ type }) => type === "showEarlier");
  await panel.post(RUNNING, shown(LONG.slice(30), { nextBefore: "m30" }));
  await panel.settle();
  assert.deepEqual(await asked(), []);
  await scrollTo(panel, 0);
  assert.deepEqual(await asked(), [{ type: "showEarlier", before: "m30" }]);
  await scrollTo(panel, 200);
  await scrollTo(panel, 100);
  const seen = panel.page.getByText("Question 32", { exact: true });
  const before = await seen.boundingBox();
  await panel.post({ type: "earlier", conversationId: "c1", entries: LONG.slice(28, 30), nextBefore: "m28" });
  const after = await seen.boundingBox();
  assert.ok(Math.abs((after?.y ?? 9999) - (before?.y ?? 0)) < 24, `moved from ${before?.y ?? 0} to ${after?.y ?? 0}`);
  await panel.settle();
  assert.deepEqual((await asked()).slice(1), [{ type: "showEarlier", before: "m28" }]);
  await panel.post({ type: "earlier", conversationId: "c1", entries: LONG.slice(0, 28) });
  const last = await seen.boundingBox();
  assert.ok(Math.abs((last?.y ?? 9999) - (before?.y ?? 0)) < 24, `moved from ${before?.y ?? 0} to ${last?.y ?? 0}`);
  assert.equal(await panel.page.getByRole("button", { name: "Show Earlier" }).count(), 0);
  assert.equal((await asked()).length, 2);
});

inBrowser("a search hit comes in sight, highlighted, also from an earlier page", {}, async (panel) => {
  await panel.post(RUNNING, shown(LONG.slice(20), { nextBefore: "m" }));
  await panel.post({ type: "reveal", conversationId: "c1", entryId: LONG[2]?.id ?? "" });
  assert.deepEqual((await panel.asked()).at(-1), { type: "showEarlier", before: "m" });
  await panel.post({ type: "earlier", conversationId: "c1", entries: LONG.slice(0, 20) });
  const hit = panel.page.locator(".found");
  await hit.waitFor();
  assert.equal(await hit.innerText(), "Question 2");
  const box = await hit.boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 600);
});

inBrowser("a search hit in a tool's result opens the result and marks the tool, each time it is led to", {}, async (panel) => {
  const calls = assistant("Two calls.", call("t1", "run_command", { command: "ls" }), call("t2", "run_command", { command: "cat b" }));
  const [first, second] = [result("t1", "run_command", "the first output"), result("t2", "run_command", "the second output")];
  await panel.post(RUNNING, shown([user("Look."), calls, first, second]));
  const output = panel.page.getByText("the second output");
  assert.equal(await output.count(), 0);
  for (const round of [1, 2]) {
    await panel.post({ type: "reveal", conversationId: "c1", entryId: second.id });
    await output.waitFor();
    assert.equal(await panel.page.locator(".found").getAttribute("data-result"), second.id, `round ${round}`);
    assert.equal(await panel.page.getByText("the first output").count(), 0);
    await panel.page.getByTestId("tool").nth(1).getByRole("button").first().click();
    assert.equal(await output.count(), 0);
  }
});

inBrowser("a card that is opened keeps its head in sight, and a message that is sent is shown", { height: 500 }, async (panel) => {
  await panel.post(RUNNING, shown([...LONG, COMPACTION]));
  const head = panel.page.getByTestId("compaction").getByRole("button").first();
  await head.click();
  await panel.settle();
  const box = await head.boundingBox();
  assert.ok(box !== null && box.y > 0, JSON.stringify(box));
  await scrollTo(panel, 0);
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.ok((await distanceFromEnd(panel)) < 2);
});
