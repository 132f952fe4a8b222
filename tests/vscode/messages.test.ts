import { equal, match } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const HOW = { asks: "How could prices be kept?", answers: [{ text: "As cents or as Decimal." }] };
const CENTS = { asks: "Try cents.", answers: [{ text: "Cents it is: sums are exact." }] };
const DECIMAL = { asks: "Try Decimal.", answers: [{ text: "Decimal it is: slower, and exact." }] };

scene("alternatives are leafed through, messages are marked, and a hit on another branch is looked at before one goes there", {}, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, HOW);
  await chat.play(provider, CENTS);
  await chat.playInPlaceOf(CENTS.asks, provider, DECIMAL);

  const alternatives = chat.frame.getByRole("group", { name: "Alternatives" });
  match(await alternatives.innerText(), /2\/2/);
  await alternatives.getByRole("button", { name: "Previous Alternative" }).click();
  await chat.replies.filter({ hasText: "Cents it is" }).waitFor();
  await until("the first alternative is shown", async () => /1\/2/.test(await alternatives.innerText()));
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
  await window.answer("the question of money");
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
