import { equal, match, ok } from "node:assert/strict";
import type { Chat } from "./harness/chat.ts";
import { unfold } from "./harness/chat.ts";
import { type Scene, scene } from "./harness/scene.ts";
import type { Window } from "./harness/window.ts";

const WAYS = ["No summary", "Summarize", "Summarize with focus…", "Cancel"];
const SUMMARY = "## Goal\nPrices in cents\n\n## Progress\n### Done\n- [x] Tried cents in `src/prices.py`\n\n## Key Decisions\n- **Cents**: exact sums\n\n## Next Steps\n1. Change the API";

/** Says the same in two ways, so that the conversation has two branches; the one about Decimal is entered. */
async function fork({ window, provider }: Scene, chat: Chat): Promise<void> {
  await chat.play(provider, { asks: "How could prices be kept?", answers: [{ text: "As cents or as Decimal." }] });
  await chat.play(provider, { asks: "Try cents.", answers: [{ text: "Cents it is: sums are exact." }] });
  await chat.playInPlaceOf("Try cents.", provider, { asks: "Try Decimal.", answers: [{ text: "Decimal it is: slower, and exact." }] });
  await window.rows("Branches").filter({ hasText: /Try Decimal.*current/ }).waitFor();
}

async function leaveFor(window: Window, text: string): Promise<void> {
  await window.rows("Branches").filter({ hasText: text }).click();
}

scene("a click on a branch asks what becomes of the one that is left, and brings its summary", {}, async (played) => {
  const { window, provider } = played;
  const chat = await window.openCoppice();
  await fork(played, chat);
  provider.summaries({ text: SUMMARY });
  await leaveFor(window, "Try cents.");
  await window.choices.nth(WAYS.length - 1).waitFor();
  for (const [at, way] of WAYS.entries()) match(await window.choices.nth(at).innerText(), new RegExp(`^${way}`));
  await window.screenshot("switching");
  await window.choose("Summarize with focus");
  await window.answer("what was slower");

  await chat.branchSummaries.waitFor();
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  await chat.rests();
  equal(await chat.replies.filter({ hasText: "Decimal it is" }).count(), 0);
  await unfold(chat.branchSummaries);
  await chat.branchSummaries.getByText("Tried cents in").waitFor();
  const asked = provider.asked.find(({ kind }) => kind === "summary");
  match(JSON.stringify(asked?.messages), /what was slower/);
  await window.screenshot("switched");
});

scene("a switch can be cancelled, and can be made without a summary", {}, async (played) => {
  const { window, provider } = played;
  const chat = await window.openCoppice();
  await fork(played, chat);
  await leaveFor(window, "Try cents.");
  await window.choose("Cancel");
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();

  await leaveFor(window, "Try cents.");
  await window.choose("No summary");
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  equal(await chat.branchSummaries.count(), 0);
  ok(provider.asked.every(({ kind }) => kind === "turn"));
});

scene("a branch can be given a name", {}, async (played) => {
  const { window, provider } = played;
  const chat = await window.openCoppice();
  await fork(played, chat);
  await window.menu(window.rows("Branches").filter({ hasText: "Try cents." }), "Label…");
  await window.answer("exact sums");
  await window.rows("Branches").filter({ hasText: "exact sums" }).waitFor();
});
