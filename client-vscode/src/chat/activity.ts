import type { Approvals } from "../approvals/approvals";
import type { Turns } from "./turns";

/** What a person may want to know of a conversation that is not shown. */
export type Activity = "waiting" | "running" | undefined;

/** Which conversations wait for approval, and which have a turn that runs. */
export class Activities {
  readonly #approvals: Pick<Approvals, "pending" | "onDidChange">;
  readonly #turns: Pick<Turns, "isRunning" | "running" | "onDidChange">;

  constructor(approvals: Pick<Approvals, "pending" | "onDidChange">, turns: Pick<Turns, "isRunning" | "running" | "onDidChange">) {
    this.#approvals = approvals;
    this.#turns = turns;
  }

  of(conversationId: string): Activity {
    if (this.#approvals.pending(conversationId).some(({ interrupted }) => !interrupted)) return "waiting";
    return this.#turns.isRunning(conversationId) ? "running" : undefined;
  }

  /** The conversations whose turn runs, here or elsewhere. */
  get running(): string[] {
    return this.#turns.running;
  }

  /** The conversation that waits longest, if possible another one than `shown`. */
  waiting(shown: string | undefined): string | undefined {
    const ids = this.#approvals.pending().flatMap(({ interrupted, conversationId }) => (interrupted ? [] : [conversationId]));
    return ids.find((id) => id !== shown) ?? ids[0];
  }

  onDidChange(listener: () => void): { dispose(): void } {
    const listening = [this.#approvals.onDidChange(listener), this.#turns.onDidChange(listener)];
    return { dispose: () => { for (const each of listening) each.dispose(); } };
  }
}

const SIGNS = { waiting: "(!) ", running: "▸ " };

/** A title of a tab, which has room for a sign and no badge. */
export function titleWith(activity: Activity, title: string): string {
  return activity === undefined ? title : `${SIGNS[activity]}${title}`;
}
