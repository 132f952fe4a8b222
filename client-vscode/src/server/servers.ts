import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

import { NoServerError, sentence } from "../errors";
import { findServer, type Found } from "./find";
import { Installation } from "./installation";
import { ProcessError } from "./processes";
import { candidates, OLDEST, usablePython } from "./python";

const NONE = "Coppice needs its server. It can be installed for this extension alone, from what came with it.";

/** Which server is run, and how the extension's own comes to be. */
export class Servers {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #installation: Installation | undefined;
  #hasOffered = false;
  #isOffering = false;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
    const wheel = wheelIn(join(context.extensionPath, "dist", "server"));
    const root = join(context.globalStorageUri.fsPath, "server");
    this.#installation = wheel === undefined ? undefined : new Installation(root, wheel);
  }

  /** Where there is none, the user is offered one once, and `NoServerError` is thrown. */
  async find(): Promise<Found> {
    if (await this.#installation?.isAnother()) await this.install();
    const setting = vscode.workspace.getConfiguration("coppice").get<string>("server.path", "");
    const own = await this.#installation?.program();
    try {
      const found = await findServer({ setting, own, path: process.env["PATH"] });
      this.#log.info(`The server is ${found.command} (${found.from}).`);
      return found;
    } catch (error) {
      if (error instanceof NoServerError && !this.#hasOffered) void this.offer(error.message);
      throw error;
    }
  }

  /** Says that there is no server, and what can be done. */
  async offer(message: string): Promise<void> {
    if (this.#isOffering) return;
    this.#hasOffered = this.#isOffering = true;
    const isUnset = vscode.workspace.getConfiguration("coppice").get<string>("server.path", "") === "";
    const install = isUnset && this.#installation !== undefined ? ["Install"] : [];
    const chosen = await vscode.window.showWarningMessage(isUnset ? NONE : message, ...install, "Choose…", "Open Log");
    this.#isOffering = false;
    if (chosen === "Install") await vscode.commands.executeCommand("coppice.installServer");
    if (chosen === "Choose…") await vscode.commands.executeCommand("coppice.chooseServer");
    if (chosen === "Open Log") this.#log.show();
  }

  /** Installs the extension's own server, with progress that can be cancelled. Throws a sentence where it cannot. */
  async install(): Promise<void> {
    const installation = this.#installation;
    if (installation === undefined) throw new Error("This build of the extension holds no server to install.");
    const title = "Installing the Coppice server";
    const location = vscode.ProgressLocation.Notification;
    await vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
      const stopping = new AbortController();
      token.onCancellationRequested(() => { stopping.abort(new vscode.CancellationError()); });
      progress.report({ message: "looking for Python" });
      const python = await this.#python();
      const onLine = (line: string) => {
        this.#log.info(`Installing: ${line}`);
        const name = /^(?:Collecting|Installing) ([\w.-]+)/.exec(line)?.[1];
        if (name !== undefined) progress.report({ message: name });
      };
      progress.report({ message: `with ${python}` });
      try {
        await installation.install(python, { onLine, signal: stopping.signal });
      } catch (error) {
        if (error instanceof ProcessError) throw new Error(`The server could not be installed. ${lastLine(error.output)}`, { cause: error });
        throw error;
      }
    });
  }

  /** Lets the user point to a program of their own. */
  async choose(): Promise<void> {
    const [file] = (await vscode.window.showOpenDialog({ title: "The coppice program", openLabel: "Use This" })) ?? [];
    if (file === undefined) return;
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration("coppice").update("server.path", file.fsPath, target);
  }

  async #python(): Promise<string> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const python = await usablePython(await candidates(process.env["PATH"], await this.#known(), folders));
    if (python !== undefined) return python;
    throw new Error(
      `Python ${OLDEST.join(".")} or newer is needed, with its modules venv and ensurepip (on Debian and Ubuntu: the package python3-venv). Install it and try again.`,
    );
  }

  /** The interpreters that the Python extension knows, where there is one. */
  async #known(): Promise<string[]> {
    interface PythonApi {
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
