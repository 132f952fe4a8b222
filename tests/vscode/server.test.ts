import { scene } from "./harness/scene.ts";

const OWN_SERVER = { settings: { "coppice.server.path": "" } };

scene("where there is no server the extension installs its own, when told to", OWN_SERVER, async ({ window, provider }) => {
  await window.run("Coppice: New Conversation");
  const offer = window.notifications.filter({ hasText: "Coppice needs its server" });
  await offer.getByRole("button", { name: "Install" }).click();
  const progress = window.notifications.filter({ hasText: "Installing the Coppice server" });
  await progress.waitFor();
  await progress.waitFor({ state: "hidden", timeout: 120_000 });
  const chat = await window.openCoppice();
  await chat.play(provider, { asks: "Hello", answers: [{ text: "Hello, from a server of your own." }] });
});
