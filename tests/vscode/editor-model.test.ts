import { equal, match, ok } from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unfold } from "./harness/chat.ts";
import { CENTS_TURN, FILES, SUMMARY } from "./harness/example.ts";
import { root } from "./harness/places.ts";
import { scene } from "./harness/scene.ts";
import { talk } from "./harness/talk.ts";

const WITHOUT_MODEL = { files: FILES, tools: "ask", withoutModel: true, settings: { "coppice.compaction.keepRecentTokens": 200 } } as const;
const NUMBERS = /[\d.,]+k? → [\d.,]+k? tokens/;

scene("without a model the panel says how to set one, and compacting works", WITHOUT_MODEL, async ({ window, provider }) => {
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

scene("where no model is set, one of VS Code is a click away, and then answers, uses tools and writes summaries", WITHOUT_MODEL, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  await chat.send(CENTS_TURN.asks);
  const notice = chat.notices.filter({ hasText: "No model is set" });
  const use = notice.getByRole("button", { name: "Use Scripted of VS Code" });
  await notice.getByRole("button", { name: "Choose a Model" }).waitFor();
  equal(await use.count(), 0);

  editor.configure({ "coppiceTests.modelUrl": provider.url });
  await use.waitFor();
  await window.screenshot("model-offer");
  equal(provider.asked.length, 0);
  await use.click();
  await notice.waitFor({ state: "hidden" });
  await chat.notices.filter({ hasText: "Scripted answers from now on." }).waitFor();

  for (const answer of CENTS_TURN.answers) provider.turn({ ...answer, waits: answer === CENTS_TURN.answers.at(-1) });
  equal(await chat.input.inputValue(), CENTS_TURN.asks);
  await chat.input.press("Enter");
  for (const tool of ["read_file", "write_file"]) await chat.allow(`Use ${tool}`);
  await chat.draft.filter({ hasText: "Prices are integer" }).waitFor();
  ok(!(await chat.draft.innerText()).includes("Shall I change"));
  provider.release();
  await chat.replies.filter({ hasText: "Shall I change the API next?" }).waitFor();
  await chat.rests();
  equal(await chat.tools.count(), 3);
  match(readFileSync(join(editor.workspace, "src/prices.py"), "utf8"), /price_cents: int/);
  await talk(chat, provider);

  provider.summaries({ text: SUMMARY });
  await window.run("Coppice: Compact Conversation");
  await unfold(chat.compactions);
  await chat.compactions.getByText("Cents, not Decimal").first().waitFor();
  match(await chat.compactions.innerText(), /written by editor\b.*scripted/);
  ok(provider.asked.some(({ kind }) => kind === "summary"));
  ok(provider.asked.every(({ model }) => model === "scripted"));
});

scene("a model of the user's settings.toml answers, whatever VS Code offers", { withoutModel: true }, async ({ editor, window, provider }) => {
  const folder = join(editor.home, ".config", "coppice");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.toml"), `[model]\nprovider = "openai"\nbaseUrl = "${provider.url}"\nname = "of-the-file"\n`);
  editor.configure({ "coppiceTests.modelUrl": provider.url });
  const chat = await window.openCoppice();
  await chat.play(provider, { asks: "Who are you?", answers: [{ text: "The one of the file." }] });
  equal(await chat.notices.count(), 0);
  equal(provider.asked[0]?.model, "of-the-file");
});
