/** Long conversations and fast replies, against the clock. The limits are several times what a slow machine needs. */
import assert from "node:assert/strict";

import { inBrowser, type PanelPage } from "./panel";
import { assistant, RUNNING, shown, user } from "./samples";

const REPLY = "The reader yields on newlines only.\n\n- one\n- two\n\n```python\nfor line in lines:\n    print(line)\n```\n";
const MESSAGES = Array.from({ length: 10_000 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(REPLY)));
const PAGE = 100;
const FRAME_LIMIT_MS = 500;

/** The longest that the page could not be used, in milliseconds, since this was called before. */
async function longestFreeze({ page }: PanelPage): Promise<number> {
  return page.evaluate(() => {
    const scope = globalThis as unknown as { freeze?: { longest: number } };
    const longest = scope.freeze?.longest ?? 0;
    if (scope.freeze === undefined) {
      const freeze = (scope.freeze = { longest: 0 });
      let last = performance.now();
      setInterval(() => {
        const now = performance.now();
        freeze.longest = Math.max(freeze.longest, now - last);
        last = now;
      }, 10);
    } else {
      scope.freeze.longest = 0;
    }
    return longest;
  });
}

inBrowser("a conversation of 10,000 messages that was read back to its beginning is written on without a freeze", {}, async (panel) => {
  await panel.tell(RUNNING, shown(MESSAGES.slice(-PAGE), { running: true, nextBefore: "m" }));
  await longestFreeze(panel);
  for (let end = MESSAGES.length - PAGE; end > 0; end -= 1000) {
    await panel.tell({ type: "earlier", conversationId: "c1", entries: MESSAGES.slice(Math.max(0, end - 1000), end) });
  }
  await panel.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  assert.equal(await panel.page.getByTestId("user").count(), 5000);

  await longestFreeze(panel);
  for (let count = 0; count < 100; count += 1) {
    await panel.tell({ type: "update", conversationId: "c1", update: { kind: "text", text: "a word and another " } });
  }
  const freeze = await longestFreeze(panel);
  assert.ok(freeze < FRAME_LIMIT_MS, `${freeze} ms`);
});

inBrowser("a reply of 200,000 characters in 20,000 pieces is shown as it comes", {}, async (panel) => {
  await panel.tell(RUNNING, shown([], { running: true }));
  await longestFreeze(panel);
  const text = REPLY.repeat(Math.ceil(200_000 / REPLY.length)).slice(0, 200_000);
  const took = await panel.page.evaluate(async (whole) => {
    const started = performance.now();
    for (let at = 0; at < whole.length; at += 10) {
      postMessage({ type: "update", conversationId: "c1", update: { kind: "text", text: whole.slice(at, at + 10) } }, "*");
      if (at % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - started;
  }, text);
  const freeze = await longestFreeze(panel);
  assert.ok(freeze < FRAME_LIMIT_MS, `${freeze} ms`);
  assert.ok(took < 30_000, `${took} ms`);
  assert.equal((await panel.page.getByTestId("draft").locator("pre").count()) > 1000, true);
});
