import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const KEY = "sk-the-right-key";
const PLAIN = {};
const WITHOUT_MODEL = { withoutModel: true };

scene("an endpoint without a list of models is asked for one by name; a model that does not answer is taken on demand alone", WITHOUT_MODEL, async ({ window, provider }) => {
  provider.turn({ status: 404, text: "The model `tiny` does not exist." });
  const chat = await window.openCoppice();
  await window.openAndChoose(() => chat.model.click(), "An OpenAI-compatible endpoint");
  await window.answerTo("Endpoint", provider.url);
  await window.answerTo("API Key", "");
  await window.answerTo("Model", "tiny", "The endpoint lists no models");
  await window.answerTo("Context Window", "");
  await window.dialog.filter({ hasText: "tiny does not answer." }).filter({ hasText: "does not exist" }).getByRole("button", { name: "Cancel" }).click();
  await window.dialog.waitFor({ state: "hidden" });
  await chat.model.filter({ hasText: "Choose a Model" }).waitFor();
});

scene("a model is set up: endpoint, key, its models, its window, a test; then it answers, and another is picked", WITHOUT_MODEL, async ({ window, provider }) => {
  provider.models({ id: "small" }, { id: "large", context_length: 64_000 });
  provider.accept(KEY);
  const chat = await window.openCoppice();
  await chat.model.filter({ hasText: "Choose a Model" }).waitFor();
  await window.openAndChoose(() => chat.frame.getByTestId("choose-model").getByRole("button", { name: "Choose a Model" }).click(), "An OpenAI-compatible endpoint");
  await window.answerTo("Endpoint", provider.url);
  await window.answerTo("API Key", "sk-wrong");
  await window.answerTo("API Key", KEY, "The endpoint refuses the API key");
  match(await window.choices.filter({ hasText: "large" }).innerText(), /64k tokens/);
  await window.screenshot("model-list");
  await window.choose("small");
  await window.answerTo("Context Window", "16k", "The endpoint does not report it");
  await until("the model is tested", () => provider.asked.at(-1)?.model === "small");
  await chat.model.filter({ hasText: "small" }).waitFor();
  await chat.frame.getByTestId("choose-model").waitFor({ state: "hidden" });
  await window.screenshot("model-set");
  await chat.play(provider, { asks: "Hello", answers: [{ text: "Hello from the small one." }] });
  equal(provider.asked.at(-1)?.model, "small");
  await chat.frame.locator(".meter-text").filter({ hasText: "/ 16k" }).waitFor();

  await window.openAndChoose(() => chat.model.click(), "Another Model of This Endpoint");
  await window.choose("large");
  await chat.model.filter({ hasText: "large" }).waitFor();
  await chat.play(provider, { asks: "And you?", answers: [{ text: "Hello from the large one." }] });
  equal(provider.asked.at(-1)?.model, "large");
  await chat.frame.locator(".meter-text").filter({ hasText: "/ 64k" }).waitFor();
  equal(await chat.notices.count(), 0);
});

scene("a provider's bad minute is waited for, with Now, Stop and Continue", PLAIN, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const wait = chat.frame.getByTestId("wait");
  const button = (name: string) => wait.getByRole("button", { name });
  provider.turn({ status: 429, text: "Slow down.", headers: { retry_after: "75" } });
  await chat.send("Hello");
  await wait.waitFor();
  match(await wait.innerText(), /too many requests[^]*Asking again in (1:\d\d min|\d+ s)/);
  await window.screenshot("rate-limit");
  provider.turn({ text: "Hello, after a while." });
  await button("Now").click();
  await chat.replies.filter({ hasText: "Hello, after a while." }).waitFor();
  await chat.rests();

  editor.configure({ "coppice.model.baseUrl": "http://127.0.0.1:9/v1" });
  await until("the endpoint has gone", async () => {
    const before = await chat.asked.count();
    await chat.send("Are you there?");
    await chat.asked.nth(before).waitFor(); // A second message would be queued while the turn of this one begins.
    // The endpoint that was set before may still answer.
    await wait.or(chat.frame.getByTestId("send")).first().waitFor();
    return wait.filter({ hasText: "127.0.0.1:9" }).isVisible();
  });
  await window.screenshot("unreachable");
  await button("Stop").click();
  await chat.rests();
  equal(await chat.notices.count() + await window.notifications.count(), 0);
  const asked = await chat.asked.count();
  editor.configure({ "coppice.model.baseUrl": provider.url });
  provider.turn({ text: "Here again." });
  await until("the endpoint is back", async () => {
    await chat.frame.getByRole("button", { name: "Continue" }).click();
    await wait.or(chat.replies.filter({ hasText: "Here again." })).first().waitFor();
    const isBack = !(await wait.isVisible());
    if (!isBack) await button("Stop").click();
    await chat.rests();
    return isBack;
  });
  equal(await chat.asked.count(), asked);
  ok(provider.asked.every(({ kind }) => kind === "turn"));
});

scene("a model is added, chosen for a conversation with how much it thinks, and new conversations begin with both", PLAIN, async ({ window, provider }) => {
  provider.models({ id: "large", context_length: 64_000 });
  const chat = await window.openCoppice();
  const usual = "served-model";
  await chat.model.filter({ hasText: usual }).waitFor();
  await chat.play(provider, { asks: "Good morning", answers: [{ text: "Hello from the usual one." }] });

  await window.openAndChoose(() => chat.model.click(), "Add Model…");
  await window.choose("An OpenAI-compatible endpoint");
  await window.answerTo("Endpoint", provider.url);
  await window.answerTo("API Key", "");
  await window.choose("large");
  await window.answerTo("Name", "thorough", "How the chat lists the model");
  await until("the added model is listed", async () => {
    await chat.model.click();
    const isListed = await window.choices.filter({ hasText: "thorough" }).waitFor({ timeout: 5_000 }).then(() => true, () => false);
    if (!isListed) await window.page.keyboard.press("Escape");
    return isListed;
  });
  await window.screenshot("model-choice");
  await window.choose("thorough");
  await chat.model.filter({ hasText: "thorough" }).waitFor();
  await window.openAndChoose(() => chat.model.click(), "Thinking: high");
  await chat.model.filter({ hasText: "thorough · high" }).waitFor();
  await chat.play(provider, { asks: "And you?", answers: [{ text: "Hello from the thorough one." }] });
  const { model, reasoning_effort } = provider.asked.at(-1) ?? {};
  equal(`${model} ${reasoning_effort}`, "large high");
  await chat.frame.locator(".meter-text").filter({ hasText: "/ 64k" }).waitFor();

  await window.run("Coppice: New Conversation");
  await chat.replies.first().waitFor({ state: "hidden" });
  await chat.model.filter({ hasText: "thorough · high" }).waitFor();
  await window.runAndChoose("Coppice: Open Conversation…", "Good morning");
  await chat.replies.filter({ hasText: "Hello from the thorough one." }).waitFor(); // The choice is that of what is shown.
  await window.openAndChoose(() => chat.model.click(), usual);
  await chat.model.filter({ hasText: usual }).waitFor();
  await chat.play(provider, { asks: "And again?", answers: [{ text: "The usual one again." }] });
  equal(provider.asked.at(-1)?.model, usual);
});

scene("a refused key is one error with its action, and the message is sent again with another key", PLAIN, async ({ window, provider }) => {
  provider.accept(KEY);
  const chat = await window.openCoppice();
  await chat.send("Hello");
  const error = chat.replies.filter({ hasText: "did not accept" }).or(chat.replies.filter({ hasText: "needs a key" }));
  await error.getByRole("button", { name: "Set API Key" }).waitFor();
  await window.screenshot("key-refused");
  doesNotMatch(await error.innerText(), /environment variable|apiKeyEnv/);
  equal(await chat.notices.count() + await window.notifications.count(), 0);
  equal(await chat.replies.count(), 1);

  await error.getByRole("button", { name: "Set API Key" }).click();
  await window.answerTo("API Key", KEY);
  await chat.frame.getByRole("button", { name: "Retry" }).click(); // The server starts anew with the key; this waits for it.
  await chat.replies.filter({ hasText: "Understood." }).waitFor();
});
