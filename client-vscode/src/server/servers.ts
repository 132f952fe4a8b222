import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

import { sentence } from "../errors";
import { findServer, type ServerCommand } from "./find";
import { Installation } from "./installation";
import { ProcessError } from "./processes";
import { candidates, OLDEST, usablePython } from "./python";

/** Which server is run, and how the extension's own is installed. */
export class Servers implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #installation: Installation | undefined;
  readonly #steps = new vscode.EventEmitter<undefined>();
  #step: string | undefined;
  #problem: string | undefined;
  #stopping: AbortController | undefined;

  /** The installation began, went a step further, or ended. */
  readonly onDidChangeInstallation = this.#steps.event;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
    const wheel = wheelIn(join(context.extensionPath, "dist", "server"));
    const root = join(context.globalStorageUri.fsPath, "server");
    this.#installation = wheel === undefined ? undefined : new Installation(root, wheel);
  }

  /** What the installation does at the moment; undefined while none runs. */
  get installing(): string | undefined {
    return this.#step;
  }

  /** Why the last installation failed; undefined where none did. */
  get installationProblem(): string | undefined {
    return this.#problem;
  }

  /** Whether the extension has a server to install, and the settings name no other. */
  get canInstall(): boolean {
    return this.#installation !== undefined && vscode.workspace.getConfiguration("coppice").get<string>("server.path", "") === "";
  }

  /** The program to run as the server. Throws `NoServerError` where there is none. */
  async find(): Promise<ServerCommand> {
    if (await this.#installation?.isAnother()) await this.install();
    const setting = vscode.workspace.getConfiguration("coppice").get<string>("server.path", "");
    const own = await this.#installation?.program();
    const server = await findServer({ setting, own, path: process.env["PATH"], folders: localFolders() });
    this.#log.info(`The server is ${server.command} (${server.from}).`);
    return server;
  }

  /**
   * Installs the extension's own server; where an installation runs, waits for it. Throws a sentence where it cannot, and
   * `CancellationError` where it was cancelled.
   */
  install(): Promise<void> {
    this.#running ??= this.#install().finally(() => {
      this.#running = undefined;
      this.#report(undefined);
    });
    return this.#running;
  }

  #running: Promise<void> | undefined;

  /** Stops the installation that runs. */
  cancelInstallation(): void {
    this.#stopping?.abort(new vscode.CancellationError());
  }

  dispose(): void {
    this.cancelInstallation();
    this.#steps.dispose();
  }

  async #install(): Promise<void> {
    const installation = this.#installation;
    if (installation === undefined) throw new Error("This build of the extension holds no server to install.");
    this.#stopping = new AbortController();
    this.#problem = undefined;
    this.#report("Looking for Python");
    try {
      const python = await this.#python();
      this.#report(`Creating an environment with ${python}`);
      const onLine = (line: string): void => {
        this.#log.info(`Installing: ${line}`);
        const name = /^(?:Collecting|Installing) ([\w.-]+)/.exec(line)?.[1];
        if (name !== undefined) this.#report(`Installing ${name}`);
      };
      await installation.install(python, { onLine, signal: this.#stopping.signal });
    } catch (error) {
      if (error instanceof vscode.CancellationError) throw error;
      const why = error instanceof ProcessError ? `The server could not be installed. ${lastLine(error.output)}` : sentence(error);
      this.#problem = why;
      throw new Error(why, { cause: error });
    }
  }

  #report(step: string | undefined): void {
    this.#step = step;
    this.#steps.fire(undefined);
  }

  /** Lets the user point to a program of their own. */
  async choose(): Promise<void> {
    const [file] = (await vscode.window.showOpenDialog({ title: "The coppice program", openLabel: "Use This" })) ?? [];
    if (file === undefined) return;
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration("coppice").update("server.path", file.fsPath, target);
  }

  async #python(): Promise<string> {
    const python = await usablePython(await candidates(process.env["PATH"], await this.#reportedPythons(), localFolders()));
    if (python !== undefined) return python;
    throw new Error(
      `Python ${OLDEST.join(".")} or newer is needed, with its modules venv and ensurepip (on Debian and Ubuntu: the package python3-venv). Install it and try again.`,
    );
  }

  /** The interpreters that the Python extension knows, where there is one. */
  async #reportedPythons(): Promise<string[]> {
    interface PythonApi {
      // eslint-disable-next-line id-denylist -- the other extension's name
      environments?: { known?: { path: string }[] };
    }
    try {
      const api = await vscode.extensions.getExtension<PythonApi>("ms-python.python")?.activate();
      return (api?.environments?.known ?? []).map(({ path }) => path);
    } catch (error) {
      this.#log.warn(`The Python extension did not answer: ${sentence(error)}`);
      return [];
    }
  }
}

function localFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

function wheelIn(folder: string): string | undefined {
  try {
    const name = readdirSync(folder).find((each) => each.endsWith(".whl"));
    return name === undefined ? undefined : join(folder, name);
  } catch {
    return undefined;
  }
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
