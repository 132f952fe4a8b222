import { equal, match } from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const SHOP = { files: FILES, tools: "allow" } as const;
const PRICES = { asks: "How could prices be kept?", answers: [{ text: "As cents or as Decimal." }] };
const DATES = { asks: "How could dates be kept?", answers: [{ text: "As days of the epoch." }] };

scene("the conversations are listed by their first request, and opened, renamed and deleted there", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, PRICES);
  await window.run("Coppice: New Conversation");
  await until("the new conversation is shown", async () => (await chat.asked.count()) === 0);
  await chat.play(provider, DATES);
  await window.fold("Branches");
  await window.expand("Conversations");
  const rows = window.rows("Conversations");
  const prices = rows.filter({ hasText: PRICES.asks });
  await rows.filter({ hasText: /dates be kept\?.*open/ }).waitFor();

  await prices.click();
  await chat.replies.filter({ hasText: "As cents or as Decimal." }).waitFor();
  await rows.filter({ hasText: /prices be kept\?.*open/ }).waitFor();
  await window.screenshot("conversations");

  const dates = rows.filter({ hasText: DATES.asks });
  await window.menu(dates, "Rename Conversation…", () => window.question("Rename Conversation").isVisible());
  await window.answerTo("Rename Conversation", "Dates");
  await rows.filter({ hasText: /^Dates/ }).waitFor();
  await chat.replies.filter({ hasText: "As cents or as Decimal." }).waitFor(); // It is still the one that is open.

  await rows.filter({ hasText: /^Dates/ }).hover();
  await rows.filter({ hasText: /^Dates/ }).getByRole("button", { name: "Delete Conversation…" }).click();
  const question = window.dialog.filter({ hasText: "Delete “Dates”?" });
  await question.waitFor();
  match((await question.textContent()) ?? "", /Its \d entries of .* cannot be undone/);
  await question.getByRole("button", { name: "Delete" }).click();
  await rows.filter({ hasText: /^Dates/ }).waitFor({ state: "hidden" });
  equal(await rows.count(), 1);
});

scene("the ledger names what is open, and a line of it leads to its entry", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await window.fold("Branches");
  await window.expand("Ledger");
  await window.page.getByText("Nothing is known to be done").waitFor();
  await chat.play(provider, {
    asks: "Write the notes.",
    answers: [{ calls: [["call-1", "write_file", { path: "notes.md", content: "Floats." }]] }, { text: `They are written.\n\n${"More about it.\n\n".repeat(60)}` }],
  });
  const line = window.rows("Ledger").filter({ hasText: "notes.md" });
  await line.filter({ hasText: "not committed" }).waitFor();
  await window.screenshot("ledger");
  await line.click();
  await chat.tools.first().waitFor();
  await until("the tool call is in sight", async () => chat.tools.first().evaluate((tool) => {
    const { top, bottom } = tool.getBoundingClientRect();
    return bottom > 0 && top < document.documentElement.clientHeight;
  }));
});

scene("a session of another agent in this workspace is listed, opened and gone on with", SHOP, async ({ editor, window, provider }) => {
  const session = (cwd: string, text: string) => [
    { type: "user", uuid: "u1", parentUuid: null, sessionId: "s1", cwd, timestamp: "2026-11-20T10:00:00Z", message: { role: "user", content: text } },
    { type: "assistant", uuid: "a1", parentUuid: "u1", sessionId: "s1", cwd, timestamp: "2026-11-20T10:00:01Z", message: { role: "assistant", stop_reason: "end_turn", content: [{ type: "text", text: "They are floats." }] } },
  ].map((record) => `${JSON.stringify(record)}\n`).join("");
  const folder = join(editor.home, ".claude/projects", editor.workspace.replaceAll(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "here.jsonl"), session(editor.workspace, "What are the prices?"));
  writeFileSync(join(folder, "elsewhere.jsonl"), session("/elsewhere", "Somewhere else"));

  await window.reload();
  const chat = await window.openCoppice();
  await window.fold("Branches");
  await window.expand("Conversations");
  const row = window.rows("Conversations").filter({ hasText: /What are the prices\?.*Claude Code/ });
  await row.waitFor();
  equal(await window.rows("Conversations").filter({ hasText: "Somewhere else" }).count(), 0);
  await window.screenshot("other-agents");
  await row.click();
  await chat.replies.filter({ hasText: "They are floats." }).waitFor();
  await chat.play(provider, { asks: "And the taxes?", answers: [{ text: "They are integers." }] });
});
