import * as vscode from "vscode";

import type { PendingApproval } from "../approvals/approval";
import type { Approvals } from "../approvals/approvals";
import { attachmentBlock } from "../context/blocks";
import type { Modes } from "../modes/modes";
import type { ChatAccess, Feature } from "./feature";
import type { FromPage } from "./messages";

/** Plans that wait for approval: each can be opened as a document, and what is written there is what is approved. */
export class Plans implements Feature {
  /** By approval. */
  readonly #documents = new Map<string, vscode.TextDocument>();

  constructor(
    private readonly access: Pick<ChatAccess, "run">,
    private readonly approvals: Approvals,
    private readonly modes: Modes,
  ) {}

  greet(): void {
    // The plans are among the approvals.
  }

  async handle(message: FromPage): Promise<boolean> {
    if (message.type === "openPlan") {
      await this.#open(message.id);
      return true;
    }
    if (message.type !== "decide" || message.decision.kind !== "allowPlan") return false;
    const { id, decision } = message;
    const plan = this.#changed(id);
    const asked = this.approvals.decide(id, { ...decision, plan });
    this.#documents.delete(id);
    if (asked?.interrupted !== true) return true;
    // Nothing waits for the answer any more: it becomes a message, in which the model's sentences are not the user's.
    this.modes.set(asked.conversationId, decision.mode);
    const content = ["I approve this plan. Carry it out.", attachmentBlock("plan", plan ?? planOf(asked))].map((text) => ({ type: "text" as const, text }));
    this.access.run(asked.conversationId, { content });
    return true;
  }

  async #open(id: string): Promise<void> {
    const asked = this.approvals.pending().find((each) => each.id === id);
    if (asked === undefined) return;
    const open = this.#documents.get(id);
    const document = open === undefined || open.isClosed ? await vscode.workspace.openTextDocument({ language: "markdown", content: planOf(asked) }) : open;
    this.#documents.set(id, document);
    await vscode.window.showTextDocument(document, { preview: false });
  }

  /** The plan as the user changed it in its document; undefined where it is the model's. */
  #changed(id: string): string | undefined {
    const document = this.#documents.get(id);
    const asked = this.approvals.pending().find((each) => each.id === id);
    if (document === undefined || document.isClosed || asked === undefined) return undefined;
    const written = document.getText();
    return written.trim() === planOf(asked).replaceAll("\r\n", "\n").trim() || written.trim() === "" ? undefined : written;
  }
}

function planOf({ details }: PendingApproval): string {
  return details.find((detail) => detail.kind === "plan")?.text ?? "";
}
