// Two windows on one workspace, each with a server of its own.
import { equal } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";
import { Window } from "./harness/window.ts";

const HELLO = { asks: "Hello from the first window.", answers: [{ text: "Hello to both." }] };

scene("a turn of one window is shown in the other, a message sent there waits for its end, and the meters agree; it can be stopped there, which can go on then", {}, async ({ editor, window, provider }) => {
  const first = await window.openCoppice();
  await first.play(provider, HELLO);
  const nextWindow = await Window.open(editor.url);
  try {
    const other = await nextWindow.openCoppice();
    await nextWindow.runAndChoose("Coppice: Open Conversation…", HELLO.asks);
    await other.replies.filter({ hasText: "Hello to both." }).waitFor();
    const working = other.frame.locator(".log .working").filter({ hasText: "Working in another window…" });

    provider.turn({ text: "This takes its time, and is done now.", waits: true });
    provider.turn({ text: "The tests are green." });
    await first.send("Take your time.");
    await other.asked.filter({ hasText: "Take your time." }).waitFor();
    await working.waitFor();
    await other.stop.waitFor();
    await other.send("And the tests?");
    await other.frame.getByTestId("queue").filter({ hasText: "And the tests?" }).waitFor();
    await nextWindow.screenshot("second-window");
    equal(provider.asked.length, 2);

    provider.release();
    for (const chat of [first, other]) {
      await chat.replies.filter({ hasText: "and is done now" }).waitFor();
      await chat.replies.filter({ hasText: "The tests are green." }).waitFor();
      await chat.rests();
      equal(await chat.asked.count(), 3);
    }
    equal(await other.frame.getByTestId("queue").count(), 0);
    await until("the meters agree", async () => (await first.meter.innerText()) === (await other.meter.innerText()));

    provider.turn({ hangs: true });
    await first.send("Take a day.");
    await working.waitFor();
    await other.stop.click();
    await first.rests();
    await other.rests();
    await other.play(provider, { asks: "Are you there?", answers: [{ text: "I am." }] });
    await first.replies.filter({ hasText: "I am." }).waitFor();
  } catch (error) {
    await nextWindow.screenshot("failed-second-window");
    throw error;
  } finally {
    await nextWindow.close();
  }
});
