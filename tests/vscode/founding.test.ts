// Behaviours of the founding documents that a person sees in VS Code; see docs/founding.md.
import { equal, match, ok } from "node:assert/strict";
import { SUMMARY } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { talk } from "./harness/talk.ts";
import { until } from "./harness/waiting.ts";

const KEEPING_LITTLE = { "coppice.compaction.keepRecentTokens": 200 };

scene("row 3: a compaction that a prompt needs first is shown as Compacting", { settings: KEEPING_LITTLE }, async ({ window, provider }) => {
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

scene("row 5: /compact with a focus is the command, and no message", { settings: KEEPING_LITTLE }, async ({ window, provider }) => {
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

const OFFLINE = { ...KEEPING_LITTLE, "coppice.summarizer.provider": "offline" };
const ROWS = Array.from({ length: 300 }, (_, at) => `${String(at)};a row of the shop;${String(at * 7)}`).join("\n");

scene("row 1: a long paragraph of the user's stays in What the Model Sees when its turn is split", { files: { "rows.csv": ROWS }, tools: "allow", settings: OFFLINE }, async ({ window, provider }) => {
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
