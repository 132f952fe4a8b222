import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { BACKGROUND, TURN } from "../progress/feed";
import type { BackgroundCompactionChanged } from "../protocol.gen";
import type { BackgroundStatus, Work } from "./messages";

const COMPACTING = "Compacting";

interface Listener {
  work(conversationId: string, work: Work | undefined): void;
  background(conversationId: string, status: BackgroundStatus | undefined): void;
}

/**
 * Which conversation the server's long work belongs to. Progress does not say it: a compaction is that of the
 * conversation whose compaction began last, anything else that of the active one.
 */
export class Works implements vscode.Disposable {
  readonly #active: () => string | undefined;
  readonly #report: Listener;
  readonly #compacting: string[] = [];
  readonly #owners = new Map<string | number, string>();
  readonly #works = new Map<string, Work>();
  readonly #background = new Map<string, BackgroundStatus>();
  readonly #listening: { dispose(): unknown }[];

  constructor(client: CoppiceClient, active: () => string | undefined, report: Listener) {
    this.#active = active;
    this.#report = report;
    this.#listening = [
      client.onNotification("coppice/compactionStarted", ({ conversationId }) => {
        this.#compacting.push(conversationId);
        this.#put(conversationId, { title: COMPACTING, cancellable: true });
      }),
      client.onNotification("coppice/compactionEnded", ({ conversationId }) => {
        this.#compacting.splice(this.#compacting.indexOf(conversationId), 1);
        this.#put(conversationId, undefined);
      }),
      client.onNotification("coppice/backgroundCompactionChanged", (change) => { this.#putBackground(change); }),
      client.onDidChangeState((state) => {
        if (state !== "running") for (const conversationId of [...this.#background.keys()]) this.#putBackground({ conversationId, status: null });
      }),
      client.progress.listen((token, work, ended) => {
        const title = work?.title ?? ended?.title;
        if (title === BACKGROUND) return; // It keeps nobody from anything, and has a line of its own.
        // The page shows turns in its own way, and of their progress only what a compaction within one says.
        if (title === TURN) this.#withinTurn(work?.message);
        else this.#take(token, work && { title: work.title, stage: work.message, percentage: work.percentage, cancellable: true });
      }),
    ];
  }

  of(conversationId: string): Work | undefined {
    return this.#works.get(conversationId);
  }

  /** What there is of the summary of the next compaction. */
  backgroundOf(conversationId: string): BackgroundStatus | undefined {
    return this.#background.get(conversationId);
  }

  dispose(): void {
    for (const each of this.#listening) each.dispose();
  }

  #take(token: string | number, work: Work | undefined): void {
    const compacting = work?.title === COMPACTING ? this.#compacting.at(-1) : undefined;
    const owner = this.#owners.get(token) ?? compacting ?? this.#active();
    if (owner === undefined) return;
    if (work === undefined) this.#owners.delete(token);
    else this.#owners.set(token, owner);
    this.#put(owner, work);
  }

  #withinTurn(stage: string | undefined): void {
    const owner = this.#compacting.at(-1);
    if (owner !== undefined) this.#put(owner, { title: COMPACTING, stage, cancellable: true });
  }

  #putBackground({ conversationId, status }: BackgroundCompactionChanged): void {
    if (status === null) this.#background.delete(conversationId);
    else this.#background.set(conversationId, status);
    this.#report.background(conversationId, status ?? undefined);
  }

  #put(conversationId: string, work: Work | undefined): void {
    if (work === undefined) this.#works.delete(conversationId);
    else this.#works.set(conversationId, work);
    this.#report.work(conversationId, work);
  }
}
