// The Chat view: its contents, and a user's actions there.
import type { FrameLocator, Locator } from "playwright-core";
import type { Turn } from "./example.ts";
import type { Provider } from "./provider.ts";
import { until } from "./waiting.ts";

export class Chat {
  readonly frame: FrameLocator;

  constructor(frame: FrameLocator) {
    this.frame = frame;
  }

  get input(): Locator {
    return this.frame.getByTestId("message-input");
  }

  get stop(): Locator {
    return this.frame.getByTestId("stop");
  }

  get asked(): Locator {
    return this.frame.getByTestId("user");
  }

  get replies(): Locator {
    return this.frame.getByTestId("assistant");
  }

  /** The reply that is being written. */
  get draft(): Locator {
    return this.frame.getByTestId("draft");
  }

  get tools(): Locator {
    return this.frame.getByTestId("tool");
  }

  get compactions(): Locator {
    return this.frame.getByTestId("compaction");
  }

  get branchSummaries(): Locator {
    return this.frame.getByTestId("branchSummary");
  }

  get notices(): Locator {
    return this.frame.getByTestId("notice");
  }

  /** Long work that is going on. */
  get work(): Locator {
    return this.frame.getByTestId("work");
  }

  /** The questions about tools that wait for an answer. */
  get approvals(): Locator {
    return this.frame.getByTestId("approval");
  }

  /** Allows the tool whose question has this title, for the whole conversation. */
  async allow(title: string): Promise<void> {
    await this.approvals.filter({ hasText: title }).getByRole("button", { name: "Allow for This Conversation" }).first().click();
  }

  /** Presses a key until it has answered the only question: one that has just come takes none yet. */
  async answerByKey(key: string): Promise<void> {
    await until("the key answers", async () => {
      await this.input.press(key);
      return (await this.approvals.count()) === 0;
    });
  }

  get meter(): Locator {
    return this.frame.getByTestId("context-meter");
  }

  async send(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press("Enter");
  }

  /** A whole turn: what is asked, and everything that is answered. */
  async play(provider: Provider, turn: Turn): Promise<void> {
    await this.#play(provider, turn, () => this.send(turn.asks));
  }

  /** Edits a message in place, sends it, and waits for what is answered. */
  async playInPlaceOf(text: string, provider: Provider, turn: Turn): Promise<void> {
    const message = this.asked.filter({ hasText: text });
    await message.hover();
    await message.getByRole("button", { name: "Edit and Resend" }).click();
    const input = this.frame.getByRole("textbox", { name: "Edited message" });
    await input.fill(turn.asks);
    await this.#play(provider, turn, () => input.press("Enter"));
  }

  async #play(provider: Provider, turn: Turn, send: () => Promise<void>): Promise<void> {
    for (const answer of turn.answers) provider.turn(answer);
    const last = turn.answers.at(-1)?.text?.split("\n")[0]?.replaceAll(/[*`]/g, "") ?? "";
    await send();
    await this.replies.filter({ hasText: last }).waitFor();
    await this.rests();
  }

  /** The name of the model that answers. */
  get model(): Locator {
    return this.frame.getByTestId("model");
  }

  /** Waits until nothing runs any more. */
  async rests(): Promise<void> {
    await this.frame.getByTestId("send").waitFor();
  }
}

/** Opens what is folded. */
export async function unfold(folded: Locator): Promise<void> {
  await folded.getByRole("button", { expanded: false }).first().click();
}
