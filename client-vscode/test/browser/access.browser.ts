/** What axe-core finds, in every theme, with everything shown and opened. */
import assert from "node:assert/strict";
import axe from "axe-core";

import { inBrowser, THEMES } from "./panel";
import { BREAKDOWN, COMMAND, CONVERSATION, EDIT, RUNNING, shown, TALK, USAGE } from "./samples";

const ASKED = TALK[1]?.id ?? "";

for (const theme of THEMES) {
  inBrowser(`there is nothing for axe to find, ${theme}`, { theme, width: 300, height: 2600 }, async (panel) => {
    const { page } = panel;
    await panel.post(
      RUNNING,
      shown(TALK, {
        outline: {
          leafId: null,
          length: 40,
          compactions: [{ entryId: "older", depth: 8 }, { entryId: "compaction-1", depth: 30, firstKeptEntryId: ASKED }],
          marks: [{ entryId: ASKED, label: "before the rewrite", pinned: true }],
          forks: [{ entryId: ASKED, alternatives: ["x", ASKED] }],
        },
        nextBefore: "m1",
        running: true, work: { title: "Compacting", stage: "Summarizing", percentage: 40, cancellable: true },
      }),
      { type: "conversations", conversations: [CONVERSATION, { ...CONVERSATION, id: "c2", name: "Another" }] },
      { type: "update", conversationId: "c1", update: { kind: "text", text: "An answer that" } },
      { type: "approvals", approvals: [EDIT, COMMAND] },
      { type: "modelOffer", name: "Scripted" },
      { type: "notice", level: "error", text: "No model is set up.", action: { label: "Choose a Model", command: "coppice.setUpModel" } },
      { type: "usage", conversationId: "c1", usage: { ...USAGE, breakdown: BREAKDOWN } },
    );
    for (let round = 0; round < 2; round += 1) {
      await page.evaluate(() => { for (const head of document.querySelectorAll<HTMLElement>("[aria-expanded=false].fold-head")) head.click(); });
      await panel.settle();
    }
    await page.getByRole("button", { name: /^Context:/ }).click();
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await checker.run(document, {
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
        // In which order a message has its headings is its writer's choice.
        rules: { "heading-order": { enabled: false } },
      });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`));
    });
    assert.deepEqual(violations, []);

    await page.getByTestId("user").first().getByRole("button", { name: "More Actions" }).press("Enter");
    const inMenu = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await checker.run(".menu");
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`));
    });
    assert.deepEqual(inMenu, []);
    await page.keyboard.press("Escape");

    await page.getByTestId("conversation-picker").click();
    const inPicker = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await checker.run(".header");
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`));
    });
    assert.deepEqual(inPicker, []);
  });
}
