// A command that the model runs: what it prints is seen as it comes, and the turn can go on without it.
import { match } from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

scene("a command's output appears while it runs; it is left running, listed, and ended", { settings: { "coppice.chat.confirmTools": "never" } }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const command = "trap 'touch ended; exit' TERM; printf '10%%\\r\\033[32m100%%\\033[0m\\nListening\\n'; while :; do sleep 0.1; done";
  provider.turn({ calls: [["c1", "run_command", { command }]] });
  provider.turn({ text: "It listens." });
  await chat.send("Start the server.");
  const live = chat.frame.getByTestId("live-command");
  await live.getByText("Listening").waitFor();
  await window.screenshot("command-runs");
  await live.getByRole("button", { name: "Leave Running" }).click();
  await chat.replies.filter({ hasText: "It listens." }).waitFor();
  await chat.rests();
  match(JSON.stringify(provider.asked.at(-1)?.messages.at(-1)), /"100%\\nListening\\n\[The user leaves the command running/);
  const left = chat.frame.getByTestId("left-commands");
  await left.getByRole("button", { name: /Listening/ }).click();
  await left.getByRole("region", { name: "Output" }).filter({ hasText: "Listening" }).waitFor();
  await left.getByRole("button", { name: "End Command" }).click();
  await left.waitFor({ state: "hidden" });
  await until("the command has ended", () => existsSync(join(editor.workspace, "ended")));
});
