import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sharedData } from "./harness/places.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const SESSION = join(sharedData, "pi-session.jsonl");

if (existsSync(SESSION)) {
  scene("a session of a thousand messages is imported, and the panel stays usable", { contextWindow: 400_000 }, async ({ window, provider }) => {
    const chat = await window.openCoppice();
    await window.run("Coppice: Import Conversation…");
    await window.chooseFile(SESSION);
    await chat.replies.first().waitFor();
    const log = chat.frame.getByRole("region", { name: "Messages" });
    const earlier = chat.frame.getByRole("button", { name: "Show Earlier" });
    const all = async (): Promise<boolean> => {
      await log.evaluate((frame) => { frame.scrollTo({ top: 0 }); });
      return (await chat.replies.count()) > 450 && (await earlier.count()) === 0;
    };
    await until("everything is shown", all, 90_000);
    await chat.play(provider, { asks: "Where were we?", answers: [{ text: "At the end of a long session." }] });
    await window.screenshot("thousand");
  });
} else {
  void test("a session of a thousand messages is imported", (context) => {
    const reason = "needs the recorded sessions of ../shared/data, which lie next to the checkout";
    if (process.env["CI"] !== undefined) throw new Error(reason);
    context.skip(reason);
  });
}
