import type { Chat } from "./chat.ts";
import type { Provider } from "./provider.ts";

/** Three turns; what is before the last is worth a summary. */
export async function talk(chat: Chat, provider: Provider): Promise<void> {
  const steps = Array.from({ length: 150 }, (_, at) => `${String(at + 1)}. Look at part ${String(at + 1)} of the shop and move its prices to cents.`);
  await chat.play(provider, {
    asks: "Plan the move to cents, in detail. The JSON of the public API must not change.",
    answers: [{ text: `This is the plan.\n\n${steps.join("\n")}` }],
  });
  await chat.play(provider, { asks: "Why in this order?", answers: [{ text: "Each part needs the one before it. ".repeat(40) }] });
  await chat.play(provider, { asks: "Which part is first?", answers: [{ text: "The first part is `src/prices.py`." }] });
}
