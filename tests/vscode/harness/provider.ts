// The tests' provider: a server on loopback that speaks OpenAI's protocol and answers as a test has set.
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { python, testsDirectory } from "./places.ts";
import { until } from "./waiting.ts";

export interface Answer {
  text?: string;
  thinking?: string;
  /** Tool calls, each with an id, a name and its arguments. */
  calls?: [string, string, Record<string, unknown>][];
  /** Begins and never says anything. */
  hangs?: boolean;
  /** Stops in its middle until `release`. */
  waits?: boolean;
  /** Of an error, whose message is `text`. */
  status?: number;
  /** Of an error, with `_` for `-`. */
  headers?: Record<string, string>;
}

export interface Asked {
  kind: "turn" | "summary";
  model: string;
  messages: { role: string; content?: unknown }[];
  tools?: { function: { name: string } }[];
  reasoning_effort?: string;
}

export class Provider {
  readonly asked: Asked[] = [];
  url = "";
  readonly #process: ChildProcess;

  private constructor() {
    const script = fileURLToPath(new URL("provider.py", import.meta.url));
    this.#process = spawn(python, [script], {
      env: { ...process.env, PYTHONPATH: testsDirectory },
      stdio: ["pipe", "pipe", "inherit"],
    });
    createInterface({ input: this.#process.stdout! }).on("line", (line) => {
      const message = JSON.parse(line) as Asked | { kind: "sync" } | { kind?: undefined; url: string };
      if (message.kind === undefined) this.url = message.url;
      else if (message.kind === "sync") this.#write({ kind: "sync" });
      else this.asked.push(message);
    });
  }

  static async start(): Promise<Provider> {
    const provider = new Provider();
    await until("the provider is there", () => provider.url !== "");
    return provider;
  }

  /** The settings with which the extension asks this provider. */
  settings(contextWindow = 20_000): Record<string, unknown> {
    return {
      "coppice.model.provider": "openai",
      "coppice.model.baseUrl": this.url,
      "coppice.model.name": "served-model",
      "coppice.model.contextWindow": contextWindow,
    };
  }

  turn(answer: Answer): void {
    this.#write({ kind: "turn", ...answer });
  }

  summaries(answer: Answer): void {
    this.#write({ kind: "summary", ...answer });
  }

  /** The models that the provider lists. */
  models(...models: { id: string; context_length?: number }[]): void {
    this.#write({ kind: "models", models });
  }

  /** The only key that is accepted from now on. */
  accept(key: string): void {
    this.#write({ kind: "key", text: key });
  }

  /** Lets the answers go on that wait, also later ones. */
  release(): void {
    this.#write({ kind: "release" });
  }

  /** Forgets what was asked and what was set. */
  clear(): void {
    this.#write({ kind: "clear" });
    this.asked.length = 0;
  }

  stop(): void {
    this.#process.stdin!.end();
    this.#process.kill();
  }

  #write(line: object): void {
    if (this.#process.stdin!.writable) this.#process.stdin!.write(`${JSON.stringify(line)}\n`);
  }
}
