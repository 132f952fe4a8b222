// The pictures of the README and a look at both themes: nothing is claimed of them but that they could be taken.
import { API_TURN, CENTS_TURN, DISCOUNT_TURN, FILES, SUMMARY } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";

const THEMES = { dark: "Dark Modern", light: "Light Modern" };

scene("a conversation in a dark and in a light window", { files: FILES, tools: "allow", settings: { "coppice.compaction.keepRecentTokens": 300, "coppice.chat.branchFiles": "always" } }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const pictures = async (name: string): Promise<void> => {
    await chat.input.hover();
    for (const [theme, title] of Object.entries(THEMES)) {
      editor.configure({ "workbench.colorTheme": title });
      await chat.frame.locator(`body.vscode-${theme}`).waitFor();
      await window.screenshot(`${name}-${theme}`);
    }
  };
  provider.summaries({ text: SUMMARY });
  await window.widenChat(520);
  await chat.play(provider, CENTS_TURN);
  await window.openFile("src/prices.py");
  await window.fold("Branches");
  await pictures("chat");

  await window.expand("Branches");
  await window.expand("Files");
  await chat.play(provider, API_TURN);
  await window.run("Coppice: Compact Conversation");
  await chat.compactions.waitFor();
  await chat.rests();
  await chat.playInPlaceOf(API_TURN.asks, provider, DISCOUNT_TURN);
  await window.rows("Branches").filter({ hasText: "current" }).waitFor();
  await window.run("Notifications: Clear All Notifications");
  await pictures("branches");
});
