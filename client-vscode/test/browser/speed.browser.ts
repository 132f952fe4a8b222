/** Long conversations and fast replies, against the clock. A machine that is busy may lose a frame, but not most of them. */
import assert from "node:assert/strict";

import { inBrowser, type PanelPage } from "./panel";
import { assistant, RUNNING, shown, user } from "./samples";

const REPLY = "The reader yields on newlines only.\n\n- one\n- two\n\n```python\nfor line in lines:\n    print(line)\n```\n";
const MESSAGES = Array.from({ length: 10_000 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(REPLY)));
const PAGE = 100;
const FRAME_LIMIT_MS = 100;

/** Tells `pieces` of a reply, one a frame, and gives how long the median frame took, in milliseconds. */
async function medianFrame({ page }: PanelPage, pieces: readonly string[]): Promise<number> {
  return page.evaluate(async (told) => {
    const frames: number[] = [];
    for (const text of told) {
      const started = performance.now();
      postMessage({ type: "update", conversationId: "c1", update: { kind: "text", text } }, "*");
      await new Promise((resolve) => setTimeout(resolve));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      frames.push(performance.now() - started);
    }
    return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)] ?? 0;
  }, pieces as string[]);
}

inBrowser("a conversation of 10,000 messages that was read back to its beginning is written on without a freeze", {}, async (panel) => {
  await panel.tell(RUNNING, shown(MESSAGES.slice(-PAGE), { running: true, nextBefore: "m" }));
  for (let end = MESSAGES.length - PAGE; end > 0; end -= 1000) {
    await panel.tell({ type: "earlier", conversationId: "c1", entries: MESSAGES.slice(Math.max(0, end - 1000), end) });
  }
  assert.equal(await panel.page.getByTestId("user").count(), 5000);
  const frame = await medianFrame(panel, Array.from({ length: 60 }, () => "a word and another "));
  assert.ok(frame < FRAME_LIMIT_MS, `${frame} ms`);
});

inBrowser("the end of a reply of 200,000 characters comes as fast as its beginning", {}, async (panel) => {
  await panel.tell(RUNNING, shown([], { running: true }));
  const whole = REPLY.repeat(Math.ceil(200_000 / REPLY.length));
  const pieces = Array.from({ length: 100 }, (_, at) => whole.slice(at * 2000, (at + 1) * 2000));
  await medianFrame(panel, pieces);
  const frame = await medianFrame(panel, Array.from({ length: 60 }, () => "a word and another "));
  assert.ok(frame < FRAME_LIMIT_MS, `${frame} ms`);
  assert.ok((await panel.page.getByTestId("draft").locator("pre").count()) > 1000);
});
