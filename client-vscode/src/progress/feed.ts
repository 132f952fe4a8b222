import type { WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport } from "vscode-languageclient/node";

export type Step = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;
export type Token = string | number;

/** The title of a turn's progress. */
export const TURN = "Working";

/** The title of a summary's that is written before its compaction is due. */
export const BACKGROUND = "Compacting in the background";

/** Work of the server, as far as it was reported. `percentage` is 0 to 100. */
export interface Work {
  title: string;
  percentage?: number | undefined;
  message?: string | undefined;
}

export interface Ended {
  title: string;
  /** What came of it, `142k → 23k tokens` for instance. */
  message?: string | undefined;
}

type Listener = (token: Token, work: Work | undefined, ended: Ended | undefined) => void;

/** What the server works on, from the `$/progress` of every token. */
export class ProgressFeed {
  readonly #works = new Map<Token, Work>();
  readonly #listeners = new Set<Listener>();

  /** The work that began last and has not ended. */
  get latest(): Work | undefined {
    return [...this.#works.values()].at(-1);
  }

  take(token: Token, step: Step): void {
    const work = this.#works.get(token);
    if (step.kind === "begin") {
      this.#put(token, { title: step.title, percentage: step.percentage, message: step.message });
    } else if (work !== undefined && step.kind === "report") {
      this.#put(token, { ...work, percentage: step.percentage ?? work.percentage, message: step.message ?? work.message });
    } else if (work !== undefined) {
      this.#works.delete(token);
      this.#report(token, undefined, { title: work.title, message: step.kind === "end" ? step.message : undefined });
    }
  }

  /** Forgets everything: the server that sent it is gone. */
  clear(): void {
    for (const [token, { title }] of [...this.#works]) {
      this.#works.delete(token);
      this.#report(token, undefined, { title });
    }
  }

  listen(listener: Listener): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  #put(token: Token, work: Work): void {
    this.#works.set(token, work);
    this.#report(token, work, undefined);
  }

  #report(token: Token, work: Work | undefined, ended: Ended | undefined): void {
    for (const listener of this.#listeners) listener(token, work, ended);
  }
}
