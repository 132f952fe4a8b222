/** What must be whole in a narrow and a low panel. */
import assert from "node:assert/strict";

import { inBrowser } from "./panel";
import { BREAKDOWN, COMPACTION, RUNNING, shown, TALK, USAGE, user } from "./samples";
import { SERVERS } from "./states";

const NARROW = { width: 170, height: 320 };

inBrowser("the highlight of a found message is drawn whole", NARROW, async (panel) => {
  await panel.post(RUNNING, shown(TALK), { type: "reveal", conversationId: "c1", entryId: TALK[1]?.id ?? "" });
  await panel.page.locator(".found").waitFor();
  // The group paints nothing outside of its box; the outline is 2 pixels wide, 3 pixels away.
  const room = await panel.page.locator(".found > *").first().evaluate((element) => {
    const [inner, outer] = [element.getBoundingClientRect(), element.closest(".group")?.getBoundingClientRect()];
    return outer === undefined ? [] : [inner.left - outer.left, outer.right - inner.right, inner.top - outer.top];
  });
  assert.equal(room.length, 3);
  assert.ok(room.every((pixels) => pixels >= 5), String(room));
});

inBrowser("a narrow composer shows the share of the window that is used, and its numbers on demand", NARROW, async (panel) => {
  await panel.post(RUNNING, { type: "model", name: "a-model-with-a-very-long-name" }, shown(TALK));
  const meter = panel.page.getByRole("button", { name: /^Context: 12% used/ });
  assert.ok(await panel.page.locator(".meter-share").isVisible());
  assert.ok(!(await panel.page.locator(".meter-size").isVisible()));
  await meter.click();
  await panel.post({ type: "usage", conversationId: "c1", usage: { ...USAGE, breakdown: BREAKDOWN } });
  const wider = await panel.page.locator(".usage").evaluate((element) => element.scrollWidth - element.clientWidth);
  assert.equal(wider, 0);
});

inBrowser("work in a narrow panel can be cancelled", NARROW, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { work: { title: "Compacting", stage: "Summarizing", percentage: 40, cancellable: true } }));
  await panel.page.getByTestId("work").getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "stop" });
});

for (const [name, server] of Object.entries(SERVERS)) {
  if (server.state === "starting") continue;
  inBrowser(`what the panel offers is above the composer, or can be scrolled to: ${name}`, NARROW, async (panel) => {
    await panel.post(server);
    const log = panel.page.getByRole("button", { name: "Show Log" });
    await log.click();
    assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.showLog" });
    assert.equal(await panel.page.getByTestId("model").count(), 0);
  });
}

inBrowser("a message that is edited stays in sight", { width: 170, height: 500 }, async (panel) => {
  await panel.post(RUNNING, shown([...TALK, user("A long question. ".repeat(12)), ...TALK.slice(1)]));
  await panel.page.getByTestId("user").nth(1).getByRole("button", { name: "Edit and Resend" }).press("Enter");
  const box = async (name: "Edited message" | "Messages") => panel.page.getByRole(name === "Messages" ? "region" : "textbox", { name, exact: true }).boundingBox();
  await panel.page.getByRole("textbox", { name: "Edited message" }).fill("A longer question. ".repeat(12));
  const [field, log] = [await box("Edited message"), await box("Messages")];
  assert.ok(field !== null && log !== null && field.y >= log.y && field.y < log.y + log.height, JSON.stringify([field, log]));
});

inBrowser("the model's view begins at the first message from a kept entry on that shows nothing", {}, async (panel) => {
  const first = user("First.");
  const hidden = { id: "hidden", parentId: first.id, timestamp: "", type: "label" as const, targetId: first.id, label: "x" };
  const second = { ...user("Second."), parentId: hidden.id };
  const outline = { leafId: COMPACTION.id, length: 4, compactions: [{ entryId: COMPACTION.id, depth: 3, firstKeptEntryId: hidden.id }], marks: [], forks: [] };
  await panel.post(RUNNING, shown([first, hidden, second, { ...COMPACTION, parentId: second.id }], { outline }));
  assert.equal(await panel.page.locator("[data-entry]").filter({ has: panel.page.getByTestId("view-line") }).getAttribute("data-entry"), second.id);
});

inBrowser("the arrows lead through the alternatives in a preview too, and not while a turn runs", {}, async (panel) => {
  const asked = user("Again.");
  const outline = { leafId: "l", length: 1, compactions: [], marks: [], forks: [{ entryId: asked.id, alternatives: ["x", asked.id] }] };
  await panel.post(RUNNING, shown([asked], { outline, preview: { leafId: "l" } }));
  const previous = panel.page.getByRole("button", { name: "Previous Alternative" });
  await previous.click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "showAlternative", entryId: "x" });
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.ok(await previous.isDisabled());
});

inBrowser("in a narrow chat a button is no higher than its text next to one that has more lines", { width: 170 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK.slice(1, 2), { running: true }), { type: "update", conversationId: "c1", update: { kind: "wait", attempt: 2, seconds: 90, message: "Too many requests." } });
  const heightOf = async (name: string) => (await panel.page.getByTestId("wait").getByRole("button", { name }).boundingBox())?.height;
  assert.equal(await heightOf("Now"), await heightOf("Stop"));
});
