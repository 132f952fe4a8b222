import { equal } from "node:assert/strict";
import { scene } from "./harness/scene.ts";

const FIRST_RUN = { settings: { "coppice.server.path": "" }, withoutModel: true };

scene("the first run leads from Install to a model to the input, in a sidebar that is open from the start; the walkthrough ticks each, also where it was done before it is opened", FIRST_RUN, async ({ editor, window, provider }) => {
  const { frame } = window.chat;
  const absent = frame.getByTestId("server-absent");
  await window.openSidebars();
  // Then the chat is open before the extension runs.
  await window.reloadOnceStored(/^workbench\.auxiliaryBar\.hidden false$/);
  await absent.getByRole("button", { name: "Show Log" }).waitFor();
  equal(await window.notifications.count(), 0);
  await window.screenshot("first-run-absent");
  await absent.getByRole("button", { name: "Install" }).click();
  const installing = frame.getByTestId("server-installing");
  await installing.getByText(/Installing (?!the server)|Creating an environment/).waitFor();
  await window.screenshot("first-run-installing");
  await frame.getByTestId("choose-model").waitFor({ timeout: 120_000 });
  equal(await installing.count(), 0);

  editor.configure({ "coppiceTests.modelUrl": provider.url });
  await frame.getByRole("button", { name: "Use Scripted of VS Code" }).waitFor();
  await window.screenshot("first-run-model");
  await frame.getByTestId("choose-model").getByRole("button", { name: "Choose a Model" }).click();
  await window.choose("A model of VS Code");
  await window.choose("Scripted");
  await frame.getByTestId("choose-model").waitFor({ state: "hidden" });
  await window.screenshot("first-run-input");

  await window.runAndChoose("Welcome: Open Walkthrough...", "Get Started with Coppice");
  const step = (title: string) => window.page.getByRole("checkbox", { name: title });
  const ticked = window.page.locator("[aria-checked=true]");
  for (const title of ["Install the server", "Choose a model"]) await step(title).and(ticked).waitFor();
  equal(await step("Ask for a change").getAttribute("aria-checked"), "false");
  await window.chat.play(provider, { asks: "Hello", answers: [{ text: "Hello, from a server of your own." }] });
  await step("Ask for a change").and(ticked).waitFor();
  await window.screenshot("walkthrough-done");
});
