import { doesNotMatch, equal, match } from "node:assert/strict";
import { join } from "node:path";
import { unfold } from "./harness/chat.ts";
import { SUMMARY } from "./harness/example.ts";
import { root } from "./harness/places.ts";
import { scene } from "./harness/scene.ts";
import { talk } from "./harness/talk.ts";
import { until } from "./harness/waiting.ts";

const KEEPING_LITTLE = { settings: { "coppice.compaction.keepRecentTokens": 200 } };
const NUMBERS = /[\d.,]+k? → [\d.,]+k? tokens/;

scene("a compaction from the palette shows how far it is, and then its numbers", KEEPING_LITTLE, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await talk(chat, provider);
  provider.summaries({ text: SUMMARY, waits: true });
  await window.run("Coppice: Compact Conversation");
  await window.statusBar.getByText("Compacting").waitFor();
  await chat.work.filter({ hasText: "Compacting" }).waitFor();
  await window.screenshot("compacting");

  provider.release();
  await chat.compactions.waitFor();
  await chat.rests();
  match((await chat.compactions.textContent()) ?? "", NUMBERS);
  await unfold(chat.compactions);
  await chat.compactions.getByText("The JSON of the public API must not change").first().waitFor();
  await chat.compactions.getByText("Cents, not Decimal").first().waitFor();
  await window.screenshot("compacted");

  await chat.compactions.getByRole("button", { name: "Undo Compaction" }).click();
  await chat.compactions.waitFor({ state: "hidden" });
  equal(await chat.asked.count(), 3);
  await chat.play(provider, { asks: "Go on.", answers: [{ text: "With pleasure." }] });
  const sent = JSON.stringify(provider.asked.at(-1)?.messages);
  match(sent, /Look at part 77 of the shop/);
});

scene("a compaction that is cancelled has changed nothing, and the panel says so", KEEPING_LITTLE, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await talk(chat, provider);
  provider.summaries({ hangs: true });
  await window.run("Coppice: Compact Conversation");
  await until("a summary is asked for", () => provider.asked.some(({ kind }) => kind === "summary"));
  await chat.work.getByRole("button", { name: "Cancel" }).click();
  await chat.notices.filter({ hasText: /cancelled/i }).waitFor();
  await chat.rests();
  equal(await chat.compactions.count(), 0);
  await window.reload();
  await window.openCoppice();
  await chat.replies.filter({ hasText: "The first part is" }).waitFor();
  equal(await chat.compactions.count(), 0);
});

const KEEPING_NO_RESULT = {
  tools: "allow",
  files: { "src/long.py": Array.from({ length: 300 }, (_, n) => `price_${n} = ${n * 100}`).join("\n") },
  settings: { "coppice.compaction.clear.keepTokens": 1 },
} as const;

scene("old tool results are cleared after a look at what that saves, and shown again by an undo", KEEPING_NO_RESULT, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  const sent = (): string => JSON.stringify(provider.asked.at(-1)?.messages);
  await chat.play(provider, {
    asks: "Which prices are there?",
    answers: [{ calls: [["r1", "read_file", { path: "src/long.py" }]] }, { text: "Three hundred of them." }],
  });
  match(sent(), /price_150 = 15000/);

  await window.run("Coppice: Clear Old Tool Results…");
  await window.dialog.filter({ hasText: "Clear 1 old tool result?" }).filter({ hasText: NUMBERS }).getByRole("button", { name: "Clear" }).click();
  await chat.frame.getByText(/^Cleared 1 old tool result: [\d.,]+k? tokens$/).waitFor();
  await window.screenshot("cleared");
  await chat.play(provider, { asks: "And now?", answers: [{ text: "A line remains." }] });
  match(sent(), /The result of read_file, .* was cleared to save room/);
  doesNotMatch(sent(), /price_150 = 15000/);

  await window.notifications.getByRole("button", { name: "Undo" }).click();
  await chat.frame.getByText("Cleared 1 old tool result").waitFor({ state: "hidden" });
  await chat.play(provider, { asks: "Is it there again?", answers: [{ text: "All of it." }] });
  match(sent(), /price_150 = 15000/);
});

scene("without a model the panel says how to set one, and compacting works", { ...KEEPING_LITTLE, withoutModel: true }, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.send("Is anybody there?");
  const notice = chat.notices.filter({ hasText: /model/i });
  await notice.getByRole("button", { name: "Choose a Model" }).waitFor();
  await window.screenshot("without-model");
  equal(provider.asked.length, 0);

  await window.run("Coppice: Import Conversation…");
  await window.chooseFile(join(root, "docs", "examples", "settings-migration.jsonl"));
  await chat.replies.first().waitFor();
  await window.run("Coppice: Compact Conversation");
  await chat.compactions.waitFor();
  match((await chat.compactions.textContent()) ?? "", NUMBERS);
  equal(provider.asked.length, 0);
});
