// The pictures of the README and a look at both themes: nothing is claimed of them but that they could be taken.
import { API_TURN, CENTS_TURN, DISCOUNT_TURN, FILES, SUMMARY } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";

for (const theme of ["dark", "light"] as const) {
  scene(`a conversation in a ${theme} window`, { files: FILES, tools: "allow", theme, settings: { "coppice.compaction.keepRecentTokens": 300 } }, async ({ window, provider }) => {
    provider.summaries({ text: SUMMARY });
    const chat = await window.openCoppice();
    await window.widenChat(520);
    await chat.play(provider, CENTS_TURN);
    await window.openFile("src/prices.py");
    await window.fold("Branches");
    await chat.input.hover();
    await window.screenshot(`chat-${theme}`);

    await window.expand("Branches");
    await window.expand("Files");
    await chat.play(provider, API_TURN);
    await window.run("Coppice: Compact Conversation");
    await chat.compactions.waitFor();
    await chat.rests();
    await chat.playInPlaceOf(API_TURN.asks, provider, DISCOUNT_TURN);
    await window.rows("Branches").filter({ hasText: "current" }).waitFor();
    await window.run("Notifications: Clear All Notifications");
    await chat.input.hover();
    await window.screenshot(`branches-${theme}`);
  });
}
