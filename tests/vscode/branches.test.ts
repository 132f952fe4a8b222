// The branches of a conversation: gone to, marked and named.
import { equal, match, ok } from "node:assert/strict";
import type { Chat } from "./harness/chat.ts";
import { unfold } from "./harness/chat.ts";
import { type Scene, scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const WAYS = ["No summary", "Summarize", "Summarize with focus…", "Cancel"];
const SUMMARY = "## Goal\nPrices in cents\n\n## Progress\n### Done\n- [x] Tried cents in `src/prices.py`\n\n## Key Decisions\n- **Cents**: exact sums\n\n## Next Steps\n1. Change the API";

const HOW = { asks: "How could prices be kept?", answers: [{ text: "As cents or as Decimal." }] };
const CENTS = { asks: "Try cents.", answers: [{ text: "Cents it is: sums are exact." }] };
const DECIMAL = { asks: "Try Decimal.", answers: [{ text: "Decimal it is: slower, and exact." }] };
const PLAIN = {};

/** Says the same in two ways, so that the conversation has two branches; the one about Decimal is entered. */
async function fork({ window, provider }: Scene): Promise<Chat> {
  const chat = await window.openCoppice();
  await chat.play(provider, HOW);
  await chat.play(provider, CENTS);
  await chat.playInPlaceOf(CENTS.asks, provider, DECIMAL);
  return chat;
}

scene("alternatives are leafed through, messages are marked, and a hit on another branch is looked at before one goes there", PLAIN, async (played) => {
  const { window } = played;
  const chat = await fork(played);
  const alternatives = chat.frame.getByRole("group", { name: "Alternatives" });
  await alternatives.filter({ hasText: "2/2" }).waitFor();
  await alternatives.getByRole("button", { name: "Previous Alternative" }).click();
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  await alternatives.filter({ hasText: "1/2" }).waitFor();
  await window.screenshot("alternatives");
  await alternatives.getByRole("button", { name: "Next Alternative" }).click();
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();

  const act = async (text: string, action: string): Promise<void> => {
    const more = chat.frame.locator("article").filter({ hasText: text }).getByRole("button", { name: "More Actions" });
    await more.press("Enter");
    await chat.frame.getByRole("menuitem", { name: action }).press("Enter");
  };
  await act(HOW.asks, "Pin");
  await chat.frame.getByText("Pinned").waitFor();
  await act(HOW.asks, "Label…");
  await window.answerTo("Label", "the question of money");
  await chat.frame.getByText("the question of money").waitFor();
  await window.rows("Branches").filter({ hasText: "the question of money" }).waitFor();

  const look = async (): Promise<void> => {
    await window.run("Coppice: Search Conversations…");
    await window.look("Words of any branch", "sums");
    const hit = window.choices.filter({ hasText: "sums are exact" });
    match(await hit.innerText(), /another branch[^]*How could prices be kept\?[^]*Assistant/);
    await hit.click();
    await chat.frame.getByTestId("preview").waitFor();
    await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  };
  await look();
  await window.screenshot("preview");
  equal(await chat.input.count(), 0);
  await window.rows("Branches").filter({ hasText: /Try Decimal.*current/ }).waitFor();
  await chat.frame.getByRole("button", { name: "Back to the Current Branch" }).click();
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();
  await look();
  await chat.frame.getByTestId("preview").getByRole("button", { name: "Go Here" }).click();
  await window.choose("No summary");
  await chat.frame.getByTestId("preview").waitFor({ state: "detached" });
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  await window.rows("Branches").filter({ hasText: /Try cents.*current/ }).waitFor();

  await act(CENTS.asks, "Fork from Here");
  await until("the fork has the text in its input", async () => (await chat.input.inputValue()) === CENTS.asks && (await chat.asked.count()) === 1);
  equal(await alternatives.count(), 0);
});

scene("a click on a branch asks what becomes of the one that is left: nothing, a summary, or one with a focus; and a branch can be given a name", PLAIN, async (played) => {
  const { window, provider } = played;
  const chat = await fork(played);
  const row = (text: string | RegExp) => window.rows("Branches").filter({ hasText: text });
  await row(/Try Decimal.*current/).waitFor();
  await row("Try cents.").click();
  await window.choices.nth(WAYS.length - 1).waitFor();
  for (const [at, way] of WAYS.entries()) match(await window.choices.nth(at).innerText(), new RegExp(`^${way}`));
  await window.screenshot("switching");
  await window.choose("Cancel");
  await window.choices.first().waitFor({ state: "hidden" });
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();

  await row("Try cents.").click();
  await window.choose("No summary");
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  await row(/Try cents.*current/).waitFor();
  equal(await chat.branchSummaries.count(), 0);
  ok(provider.asked.every(({ kind }) => kind === "turn"));

  provider.summaries({ text: SUMMARY });
  await row("Try Decimal.").click();
  await window.choose("Summarize with focus");
  await window.answerTo("Summarize with Focus", "what was exact");
  await chat.branchSummaries.waitFor();
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();
  await chat.rests();
  equal(await chat.replies.filter({ hasText: "Cents it is" }).count(), 0);
  await unfold(chat.branchSummaries);
  await chat.branchSummaries.getByText("Tried cents in").waitFor();
  const asked = provider.asked.find(({ kind }) => kind === "summary");
  match(JSON.stringify(asked?.messages), /what was exact/);
  await window.screenshot("switched");

  await window.menu(row("Try cents."), "Label…", () => window.question("Label").isVisible());
  await window.answerTo("Label", "exact sums");
  await row("exact sums").waitFor();
});
