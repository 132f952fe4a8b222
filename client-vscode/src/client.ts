import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { type LanguageClient, ProgressType, State, WorkDoneProgress } from "vscode-languageclient/node";

import { CoppiceError, NoServerError, ServerEndedError } from "./errors";
import { ProgressFeed, type Step, type Token } from "./progress/feed";
import type { Notifications, SamplePiece, ServerRequests } from "./protocol.gen";
import { type Method, type Params, type Part, type Result, send, type StreamingMethod } from "./send";
import { Replaceable } from "./server/replaceable";

export type { Method, Params, Part, Result, StreamingMethod };
export type NotificationMethod = keyof Notifications;
export type NotificationParams<N extends NotificationMethod> = Notifications[N]["params"];

export type ServerRequestMethod = keyof ServerRequests;
export type Answer<R extends ServerRequestMethod> = (
  params: ServerRequests[R]["params"],
  token: vscode.CancellationToken,
) => Promise<ServerRequests[R]["result"]>;

/**
 * `absent`: no server program was found. `failed`: the server could not be started, or ended too often to be started
 * again by itself.
 */
export type ServerState = "stopped" | "starting" | "running" | "absent" | "failed";

/** What a language client reports besides its answers. */
export interface ServerEvents {
  /** The server has ended by itself, and will be started again. */
  onEnded: () => void;
  /** The server has ended too often to be started again. */
  onGivenUp: () => void;
  onProgress: (token: Token, step: Step) => void;
}

/** Makes a language client that is not started yet, or throws `NoServerError`. */
export type Connect = (events: ServerEvents) => Promise<LanguageClient>;

/**
 * The server as the extension sees it. It is started by the first request, and outlives its process:
 * handlers stay registered when the server is started again.
 */
export class CoppiceClient implements vscode.Disposable {
  readonly #connect: Connect;
  readonly #answers = new Map<string, Answer<ServerRequestMethod>>();
  readonly #states = new vscode.EventEmitter<ServerState>();
  readonly #notifications = new Map<string, vscode.EventEmitter<unknown>>();
  #state: ServerState = "stopped";
  #failure: unknown;
  readonly #server = new Replaceable<LanguageClient>({
    launch: (isCurrent) => this.#launch(isCurrent),
    end: (client) => client.dispose(),
    onFailed: (error) => {
      this.#failure = error;
      this.#become(error instanceof NoServerError ? "absent" : "failed");
    },
    onStopped: () => { this.#become("stopped"); },
  });

  /** What the server works on. */
  readonly progress = new ProgressFeed();

  readonly onDidChangeState = this.#states.event;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why the server is `absent` or `failed`, where there was an error. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether requests can be answered, now or after a start that is under way. */
  get isAvailable(): boolean {
    return this.#state !== "failed" && this.#state !== "absent";
  }

  /** Throws `CoppiceError` where the server answers with one, `CancellationError` when it was cancelled. */
  async request<M extends Method>(
    method: M,
    params: Params<M>,
    token?: vscode.CancellationToken,
  ): Promise<Result<M>> {
    return send(await this.#ready(), method, params, token);
  }

  /** Runs `work` while the steps on `workDoneToken` go to `progress`, which receives those of the server's own tokens anyway. */
  async watch<T>(workDoneToken: string, work: () => Promise<T>): Promise<T> {
    const client = await this.#ready();
    const steps = client.onProgress(WorkDoneProgress.type, workDoneToken, () => undefined);
    try {
      return await work();
    } finally {
      steps.dispose();
    }
  }

  /** As `request`; what the server sends before the answer is there goes to `onPart`, in order. */
  async stream<M extends StreamingMethod>(
    method: M,
    params: Params<M>,
    onPart: (part: Part<M>) => void,
    token?: vscode.CancellationToken,
  ): Promise<Result<M>> {
    const client = await this.#ready();
    const partialResultToken = randomUUID();
    const parts = client.onProgress(new ProgressType<Part<M>>(), partialResultToken, onPart);
    try {
      return await send(client, method, { ...params, partialResultToken }, token);
    } finally {
      parts.dispose();
    }
  }

  onNotification<N extends NotificationMethod>(
    method: N,
    handler: (params: NotificationParams<N>) => void,
  ): vscode.Disposable {
    let emitter = this.#notifications.get(method);
    if (emitter === undefined) {
      emitter = new vscode.EventEmitter();
      this.#notifications.set(method, emitter);
      void this.#server.current?.then((client) => { this.#listen(client, method); }, () => undefined);
    }
    return emitter.event((params) => { handler(params as NotificationParams<N>); });
  }

  /** Sends the server a piece of an answer that it waits for on `token`. */
  async sendPiece(token: Token, piece: SamplePiece): Promise<void> {
    const client = await this.start();
    await client.sendProgress(new ProgressType<SamplePiece>(), token, piece);
  }

  /** Answers a request of the server. To be called before the server is started. */
  onRequest<R extends ServerRequestMethod>(method: R, answer: Answer<R>): void {
    this.#answers.set(method, answer as unknown as Answer<ServerRequestMethod>);
  }

  /** The running server, started when it is not. */
  start(): Promise<LanguageClient> {
    return this.#server.start();
  }

  /** Starts the server anew, with what `change` has changed by then. A request waits for the new one. */
  async restart(change: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    await this.#server.replace(change);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  dispose(): void {
    void this.stop();
    this.#states.dispose();
    for (const emitter of this.#notifications.values()) emitter.dispose();
  }

  /** The server, when it can be asked: one that has ended, or is being replaced, is waited for until it runs again. */
  async #ready(): Promise<LanguageClient> {
    const client = await this.#server.newest();
    if (this.#state !== "starting") return client;
    await this.#settled();
    return this.#server.newest();
  }

  #settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      const listening = this.onDidChangeState((state) => {
        const isReplaced = state === "stopped" && this.#server.current !== undefined;
        if (state === "starting" || isReplaced) return;
        listening.dispose();
        if (state === "running") resolve();
        else reject(new ServerEndedError());
      });
    });
  }

  async #launch(isCurrent: () => boolean): Promise<LanguageClient> {
    const become = (state: ServerState): void => { if (isCurrent()) this.#become(state); };
    this.#failure = undefined;
    become("starting");
    const client = await this.#connect({
      onEnded: () => { become("starting"); },
      onGivenUp: () => { if (isCurrent()) this.#giveUp(); },
      onProgress: (token, step) => { this.progress.take(token, step); },
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) become("running");
      if (newState === State.Starting) become("starting");
    });
    for (const method of this.#notifications.keys()) this.#listen(client, method);
    for (const [method, answer] of this.#answers) client.onRequest(method, answer);
    await client.start();
    return client;
  }

  #giveUp(): void {
    this.#server.forget();
    this.#failure = new CoppiceError("The server ended several times in a row. What it had acknowledged is kept; the log says more.");
    this.#become("failed");
  }

  #listen(client: LanguageClient, method: string): void {
    client.onNotification(method, (params: unknown) => this.#notifications.get(method)?.fire(params));
  }

  #become(state: ServerState): void {
    if (this.#state === state) return;
    if (state !== "running") this.progress.clear();
    this.#state = state;
    this.#states.fire(state);
  }
}
