/**
 * How long things take in a conversation of 10,000 messages. The figures are printed and not judged: what they are depends
 * on what else the machine does. What is judged is that everything arrives.
 */
import assert from "node:assert/strict";

import { inBrowser, type PanelPage } from "./panel";
import { assistant, RUNNING, shown, user } from "./samples";

const REPLY = "The reader yields on newlines only.\n\n- one\n- two\n\n```python\nfor line in lines:\n    print(line)\n```\n";
const MESSAGES = Array.from({ length: 10_000 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(REPLY)));
const FORKS = Array.from({ length: 200 }, (_, at) => ({ entryId: MESSAGES[at * 50]?.id ?? "", alternatives: ["x", MESSAGES[at * 50]?.id ?? ""] }));
const OUTLINE = { leafId: null, length: MESSAGES.length, compactions: [], marks: [], forks: FORKS };
const PAGE = 100;
const DELTAS_A_SECOND = 200;
const SECONDS = 5;

function report(what: string, times: readonly number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  console.log(`${what}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms, ${times.length} times`);
}

/** Opens the conversation, and reads it back to its beginning as a reader would who wants all of it. */
async function openWhole(panel: PanelPage): Promise<void> {
  await panel.post(RUNNING);
  const opening = await panel.page.evaluate(async (message) => {
    const started = performance.now();
    postMessage(message, "*");
    await new Promise((resolve) => setTimeout(resolve));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - started;
  }, shown(MESSAGES.slice(-PAGE), { running: true, nextBefore: "m", outline: OUTLINE }));
  console.log(`opening on the last ${PAGE} of ${MESSAGES.length} messages: ${opening.toFixed(0)} ms`);
  const read = Date.now();
  for (let end = MESSAGES.length - PAGE; end > 0; end -= 1000) {
    await panel.post({ type: "earlier", conversationId: "c1", entries: MESSAGES.slice(Math.max(0, end - 1000), end) });
  }
  console.log(`reading the other ${MESSAGES.length - PAGE}: ${Date.now() - read} ms`);
  assert.equal(await panel.page.getByTestId("user").count(), MESSAGES.length / 2);
}

/** The times between frames while `pieces` come in, `DELTAS_A_SECOND` of them, in milliseconds. */
async function frames({ page }: PanelPage, pieces: readonly string[]): Promise<number[]> {
  return page.evaluate(async ({ chunks, pause }) => {
    const times: number[] = [];
    let last = performance.now();
    let isOver = false;
    const frame = (): void => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (!isOver) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const started = performance.now();
    for (const [at, text] of chunks.entries()) {
      // A timer is late as a rule; what is due meanwhile is sent at once, so that the rate is kept.
      while (performance.now() < started + at * pause) await new Promise((resolve) => setTimeout(resolve, 1));
      postMessage({ type: "update", conversationId: "c1", update: { kind: "text", text } }, "*");
    }
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    isOver = true;
    return times;
  }, { chunks: [...pieces], pause: 1000 / DELTAS_A_SECOND });
}

inBrowser("a conversation of 10,000 messages is opened, read back, written in and answered in", {}, async (panel) => {
  await openWhole(panel);
  const { page } = panel;
  const input = page.getByRole("textbox", { name: "Message" });
  await input.focus();
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(globalThis, { keyTimes: times });
    document.addEventListener("keydown", () => {
      const pressed = performance.now();
      requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - pressed)));
    }, { capture: true });
  });
  const typed = "How is the last line kept, and why?";
  for (const key of typed) await page.keyboard.press(key === " " ? "Space" : key);
  assert.equal(await input.inputValue(), typed);
  await page.waitForFunction((count) => (globalThis as unknown as { keyTimes: number[] }).keyTimes.length === count, typed.length);
  report("a key until it is painted", await page.evaluate(() => (globalThis as unknown as { keyTimes: number[] }).keyTimes));

  const pieces = Array.from({ length: DELTAS_A_SECOND * SECONDS }, (_, at) => `word-${at} `);
  report(`a frame while ${DELTAS_A_SECOND} pieces of a reply come a second`, await frames(panel, pieces));
  await panel.post();
  assert.equal((await page.getByTestId("draft").innerText()).trim(), pieces.join("").trim());
});

inBrowser("the end of a reply of 200,000 characters", {}, async (panel) => {
  await panel.post(RUNNING, shown([], { running: true }));
  const whole = REPLY.repeat(Math.ceil(200_000 / REPLY.length));
  const pieces = Array.from({ length: 100 }, (_, at) => whole.slice(at * 2000, (at + 1) * 2000));
  report("a frame while the reply comes in pieces of 2,000 characters", await frames(panel, pieces));
  report("a frame at its end", await frames(panel, Array.from({ length: DELTAS_A_SECOND }, () => "a word and another ")));
  await panel.post();
  assert.ok((await panel.page.getByTestId("draft").locator("pre").count()) > 400);
});
