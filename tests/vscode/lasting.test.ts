import { equal } from "node:assert/strict";
import { CENTS_TURN, FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const SHOP = { files: FILES, tools: "allow" } as const;

scene("a server that is restarted, or killed in the middle of a turn, loses nothing", SHOP, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, { asks: "Hello", answers: [{ text: "Hello to you." }] });
  const [first] = editor.servers();
  // The one before may still be ending.
  const after = (before?: number) => until("another server runs", () => editor.servers().find((pid) => pid !== before));
  await window.run("Coppice: Restart Server");
  const second = await after(first);
  await chat.play(provider, { asks: "Still there?", answers: [{ text: "I have a new process." }] });

  provider.turn({ text: `So far ${"it goes well. ".repeat(40)}`, waits: true });
  await chat.send("Wait for it.");
  await chat.draft.filter({ hasText: "So far it goes" }).waitFor();
  process.kill(second!, "SIGKILL");
  await after(second);
  await chat.rests();
  await chat.asked.filter({ hasText: "Wait for it." }).waitFor();
  const cutOff = chat.replies.filter({ hasText: "So far it goes" });
  await cutOff.getByText("The server ended before the reply was complete.").waitFor();
  await cutOff.getByRole("button", { name: "Retry" }).waitFor();
  equal(await chat.notices.count(), 0);
  await chat.play(provider, { asks: "And now?", answers: [{ text: "I was killed, and am back." }] });
  equal(await chat.asked.count(), 4);
});

scene("everything is still there when the window is reloaded", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, CENTS_TURN);
  await window.reload();
  await window.openCoppice();
  await chat.replies.filter({ hasText: "Shall I change the API next?" }).waitFor();
  equal(await chat.asked.innerText(), CENTS_TURN.asks);
  equal(await chat.tools.count(), 3);
  await window.rows("Branches").first().waitFor();
});
