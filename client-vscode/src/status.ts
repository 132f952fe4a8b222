import * as vscode from "vscode";

import type { Approvals } from "./approvals/approvals";
import type { CoppiceClient } from "./client";
import type { Conversations } from "./conversations";
import { plain, shortTokens } from "./format";
import { type Ended, TURN } from "./progress/feed";
import type { UsageState } from "./protocol.gen";

/** What the server says at the end of work that was cancelled. */
const STOPPED = /^(Stopped|Cancelled)/;
const RESULT_SHOWN_MS = 10_000;

/** The status bar's item: how full the window is; what the server works on, and for a moment what came of it. */
export class Status implements vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #approvals: Approvals;
  readonly #item = vscode.window.createStatusBarItem("coppice.context", vscode.StatusBarAlignment.Right, 100);
  readonly #disposables: { dispose(): unknown }[];
  #usage: UsageState | undefined;
  #ended: Ended | undefined;
  #ending: NodeJS.Timeout | undefined;

  constructor(client: CoppiceClient, conversations: Conversations, approvals: Approvals) {
    this.#client = client;
    this.#approvals = approvals;
    this.#conversations = conversations;
    this.#item.name = "Coppice";
    this.#disposables = [
      this.#item,
      client.progress.listen((_token, _work, ended) => { this.#onEnded(ended); }),
      approvals.onDidChange(() => { this.#draw(); }),
      client.onDidChangeState((state) => {
        if (state === "running") void this.#measure();
        this.#draw();
      }),
      client.onNotification("coppice/usageChanged", ({ conversationId, usage }) => {
        if (conversationId === conversations.active) this.#show(usage);
      }),
      conversations.onDidChangeActive(() => void this.#measure()),
    ];
    this.#draw();
  }

  dispose(): void {
    clearTimeout(this.#ending);
    for (const each of this.#disposables) each.dispose();
  }

  /** The server takes the conversation that was got last for the one whose files are tracked. */
  async #measure(): Promise<void> {
    const conversationId = this.#conversations.active;
    const isAsked = conversationId !== undefined && this.#client.state === "running";
    const got = isAsked ? await this.#client.request("coppice/conversation/get", { conversationId }).catch(() => undefined) : undefined;
    if (conversationId === this.#conversations.active) this.#show(got?.usage);
  }

  #show(usage: UsageState | undefined): void {
    this.#usage = usage;
    this.#draw();
  }

  #onEnded(ended: Ended | undefined): void {
    if (ended?.message !== undefined && ended.title !== TURN) {
      this.#ended = ended;
      clearTimeout(this.#ending);
      this.#ending = setTimeout(() => { this.#ended = undefined; this.#draw(); }, RESULT_SHOWN_MS);
    }
    this.#draw();
  }

  #draw(): void {
    const item = this.#item;
    const work = this.#client.progress.latest;
    item.backgroundColor = undefined;
    if (!this.#client.isAvailable) {
      item.backgroundColor = new vscode.ThemeColor("statusBarItem.errorBackground");
      this.#put("$(warning) Coppice", "The Coppice server is not running. Click to start it.", "coppice.restartServer");
    } else if (this.#approvals.pending().some(({ interrupted }) => !interrupted)) {
      item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      this.#put("$(bell) Approval needed", "A tool waits for your approval. Click to go to its conversation.", "coppice.showApproval");
    } else if (work !== undefined) {
      const percentage = work.percentage === undefined || work.title === TURN ? "" : ` ${Math.round(work.percentage)}%`;
      this.#put(`$(sync~spin) ${plain(work.title)}${percentage}`, `${work.message ?? work.title}. Click to stop.`, "coppice.status.work");
    } else if (this.#ended !== undefined) {
      const { title, message = "" } = this.#ended;
      const isStopped = STOPPED.test(message);
      const outcome = isStopped ? "stopped" : "done";
      this.#put(`$(${isStopped ? "circle-slash" : "check"}) ${plain(message)}`, `${title}: ${outcome}. Click to see what the model sees now.`, "coppice.showContext");
    } else if (this.#usage !== undefined) {
      this.#meter(this.#usage);
    } else {
      item.hide();
    }
  }

  #meter({ tokens, contextWindow, thresholdTokens, shouldCompact }: UsageState): void {
    const share = Math.round((tokens / contextWindow) * 100);
    const size = `${shortTokens(tokens)} of ${shortTokens(contextWindow)} tokens`;
    if (shouldCompact) this.#item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.#put(
      `$(dashboard) ${shortTokens(tokens)}/${shortTokens(contextWindow)}`,
      `The model's window is ${share} % full: ${size}. Compacted from ${shortTokens(thresholdTokens)} on. Click to compact now.`,
      "coppice.compact",
    );
  }

  #put(text: string, tooltip: string, command: string): void {
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.command = command;
    this.#item.accessibilityInformation = { label: `Coppice: ${text.replace(/\$\([\w~-]+\) /, "")}. ${tooltip}` };
    this.#item.show();
  }
}
