// Compactions; a scene that is named by a row is that of a behaviour in docs/founding.md.
import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { unfold } from "./harness/chat.ts";
import { SUMMARY } from "./harness/example.ts";
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

scene("row 3: a compaction that a prompt needs first is shown as Compacting", KEEPING_LITTLE, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  const plan = Array.from({ length: 320 }, (_, at) => `${String(at + 1)}. Look at part ${String(at + 1)} of the shop and move its prices to cents.`).join("\n");
  await chat.play(provider, { asks: "Plan the move to cents in src/prices.py and src/api.py.", answers: [{ text: `This is the plan.\n\n${plan}` }] });
  await chat.play(provider, { asks: "Write it down once more.", answers: [{ text: `Once more.\n\n${plan}` }] });
  provider.summaries({ text: SUMMARY, waits: true });
  provider.turn({ text: "The first part is `src/prices.py`." });
  await chat.send("Which part is first?");

  await window.statusBar.getByText("Compacting").waitFor();
  await chat.work.filter({ hasText: "Compacting" }).waitFor();
  equal(provider.asked.filter(({ kind }) => kind === "turn").length, 2);
  await window.screenshot("compacting-in-a-turn");

  provider.release();
  await chat.replies.filter({ hasText: "The first part is" }).waitFor();
  await chat.rests();
  equal(await chat.compactions.count(), 1);
  await window.statusBar.getByText("Compacting").waitFor({ state: "hidden" });
});

scene("row 5: /compact with a focus is the command, and no message", KEEPING_LITTLE, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await talk(chat, provider);
  provider.summaries({ text: SUMMARY });
  await chat.input.pressSequentially("/compact keep what concerns the public API");
  await chat.input.press("Enter");
  await chat.compactions.waitFor();
  await chat.rests();
  equal(await chat.asked.count(), 3);
  const summaries = provider.asked.filter(({ kind }) => kind === "summary");
  match(JSON.stringify(summaries[0]?.messages), /keep what concerns the public API/);
  ok(!JSON.stringify(provider.asked.map(({ messages }) => messages)).includes("/compact"));
});

const DICTATED =
  "So what I would like is that the importer reads the rows of the shop one at a time and hands each of them to the writer before it asks for the next, because the files that we get from the warehouse have become so large that the machine runs out of memory in the middle of the night. ".repeat(5) +
  "The writer must never hold more than one row, and the order of the rows stays as it is in the file.";

const OFFLINE = {
  tools: "allow",
  files: {
    "rows.csv": Array.from({ length: 300 }, (_, at) => `${String(at)};a row of the shop;${String(at * 7)}`).join("\n"),
    "src/long.py": Array.from({ length: 300 }, (_, n) => `price_${n} = ${n * 100}`).join("\n"),
  },
  settings: { ...KEEPING_LITTLE.settings, "coppice.summarizer.provider": "offline", "coppice.compaction.clear.keepTokens": 1 },
} as const;

scene("row 1: a long paragraph of the user's stays in What the Model Sees when its turn is split", OFFLINE, async ({ window, provider }) => {
  ok(DICTATED.length > 1200);
  const chat = await window.openCoppice();
  await chat.play(provider, {
    asks: DICTATED,
    answers: [
      { text: "I'll read the rows.", calls: [["call-1", "read_file", { path: "rows.csv" }]] },
      { text: "Now the importer.", calls: [["call-2", "write_file", { path: "importer.py", content: "def rows(): ...\n" }]] },
      { text: "The importer reads one row at a time now. ".repeat(30) },
    ],
  });
  await window.run("Coppice: Compact Conversation");
  await chat.compactions.waitFor();
  await chat.rests();
  ok(provider.asked.every(({ kind }) => kind === "turn"));

  await window.run("Coppice: Show What the Model Sees");
  await window.editorText.getByText("system prompt").waitFor();
  const seen = await until("the view is read", async () => {
    const text = await window.copiedText();
    return text.includes("The importer reads one row at a time now.") ? text : undefined;
  });
  ok(!seen?.includes("100;a row of the shop"), "the beginning of the turn is summarized");
  match(seen ?? "", /So what I would like is that the importer reads the rows of the shop one at a time/);
  match(seen ?? "", /The writer must never hold more than one row, and the order of the rows stays as it is in the file/);
});

scene("old tool results are cleared after a look at what that saves, and shown again by an undo", OFFLINE, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  const sent = (): string => JSON.stringify(provider.asked.at(-1)?.messages);
  await chat.play(provider, {
    asks: "Which prices are there?",
    answers: [{ calls: [["r1", "read_file", { path: "src/long.py" }]] }, { text: "Three hundred of them." }],
  });
  match(sent(), /price_150 = 15000/);

  await window.run("Coppice: Clear Old Tool Results…");
  await window.dialog.filter({ hasText: "Clear 1 old tool result?" }).filter({ hasText: NUMBERS }).getByRole("button", { name: "Clear" }).click();
  await chat.frame.getByText(/^Cleared 1 old tool result: [\d.,]+k? tokens\b/).waitFor();
  await window.screenshot("cleared");
  await chat.play(provider, { asks: "And now?", answers: [{ text: "A line remains." }] });
  match(sent(), /The result of read_file, .* was cleared to save room/);
  doesNotMatch(sent(), /price_150 = 15000/);

  await window.answerNotification("Cleared 1 old tool result", "Undo");
  await chat.frame.getByText("Cleared 1 old tool result").waitFor({ state: "hidden" });
  await chat.play(provider, { asks: "Is it there again?", answers: [{ text: "All of it." }] });
  match(sent(), /price_150 = 15000/);
});
