import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { setContextKey } from "../context-keys";
import { NoServerError, sentence } from "../errors";
import type { Servers } from "../server/servers";
import type { ToPage } from "./messages";

/** A change of the settings has reached the server after so many milliseconds; a guess. */
const SETTLE_MS = 300;

type ServerMessage = Extract<ToPage, { type: "server" }>;

/** Sends the page the server's state, and whether a model can answer. */
export class ServerState implements vscode.Disposable {
  readonly #listening: vscode.Disposable[];
  #settling: NodeJS.Timeout | undefined;

  /** `onModel` gets whether a model is set, each time that it may have changed. */
  constructor(
    private readonly client: CoppiceClient,
    private readonly servers: Servers,
    private readonly post: (message: ToPage) => void,
    private readonly onModel: (isSet: boolean) => void,
  ) {
    this.#listening = [
      client.onDidChangeState((state) => {
        this.show();
        if (state === "running") void this.showModel();
      }),
      servers.onDidChangeInstallation(() => { this.show(); }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!["coppice.model", "coppice.models"].some((section) => event.affectsConfiguration(section))) return;
        clearTimeout(this.#settling);
        this.#settling = setTimeout(() => void this.showModel(), SETTLE_MS);
      }),
    ];
  }

  show(): void {
    this.post(this.#message());
  }

  async showModel(): Promise<void> {
    if (this.client.state !== "running") return;
    const workspaceUri = vscode.workspace.workspaceFolders?.[0]?.uri.toString() ?? null;
    // An older server does not know the request; the page then says nothing about models.
    const model = await this.client.request("coppice/model", { workspaceUri }).catch(() => undefined);
    if (model === undefined) return;
    const models = model.models.map(({ id, name, prices }) => ({ id, name, prices }));
    this.post({ type: "model", name: model.name, problem: model.problem, models });
    this.onModel(model.problem === undefined);
    setContextKey("coppice.hasModel", model.problem === undefined);
  }

  dispose(): void {
    clearTimeout(this.#settling);
    for (const each of this.#listening) each.dispose();
  }

  #message(): ServerMessage {
    const { installing, installationProblem, canInstall } = this.servers;
    const { state, failure } = this.client;
    if (installing !== undefined) return { type: "server", state: "installing", message: installing };
    if (state === "absent") {
      const message = installationProblem ?? (canInstall || !(failure instanceof NoServerError) ? undefined : failure.message);
      return { type: "server", state, message, canInstall };
    }
    return { type: "server", state, message: state === "failed" && failure !== undefined ? sentence(failure) : undefined };
  }
}
