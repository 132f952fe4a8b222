// The steps of the walkthrough: each is ticked once it is done, also where that was before it is opened.
import { equal } from "node:assert/strict";
import { scene } from "./harness/scene.ts";

const STEPS = ["Install the server", "Choose a model", "Ask for a change"];

scene("the walkthrough ticks the server, the model and the first conversation", {}, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await window.runAndChoose("Welcome: Open Walkthrough...", "Get Started with Coppice");
  const step = (title: string) => window.page.getByRole("checkbox", { name: title });
  for (const title of STEPS.slice(0, 2)) await step(title).and(window.page.locator("[aria-checked=true]")).waitFor();
  equal(await step("Ask for a change").getAttribute("aria-checked"), "false");
  await chat.play(provider, { asks: "Hello.", answers: [{ text: "Hello to you." }] });
  await step("Ask for a change").and(window.page.locator("[aria-checked=true]")).waitFor();
  await window.screenshot("walkthrough-done");
});
