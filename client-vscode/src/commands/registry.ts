import * as vscode from "vscode";

import { CoppiceError, NoServerError, sentence } from "../errors";
import type { Servers } from "../server/servers";

/** The palette's commands. What one throws is shown to the user, with a way on where there is one. */
export class Commands {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly servers: Servers,
  ) {}

  add<Arguments extends unknown[]>(id: `coppice.${string}`, run: (...given: Arguments) => Promise<unknown>): void {
    const guarded = async (...given: Arguments): Promise<unknown> => {
      try {
        return await run(...given);
      } catch (error) {
        void this.#show(error);
        return undefined;
      }
    };
    this.context.subscriptions.push(vscode.commands.registerCommand(id, guarded));
  }

  async #show(error: unknown): Promise<void> {
    if (error instanceof vscode.CancellationError) return;
    if (error instanceof NoServerError) {
      await this.servers.offer(error.message);
      return;
    }
    const isExpected = error instanceof CoppiceError;
    if (!isExpected) this.log.error(error instanceof Error ? error : String(error));
    const way = isExpected ? (error.code === "no-model" ? ["Set Up Model…"] : []) : ["Open Log"];
    const chosen = await vscode.window.showErrorMessage(sentence(error), ...way);
    if (chosen === "Set Up Model…") await vscode.commands.executeCommand("coppice.setUpModel");
    if (chosen === "Open Log") this.log.show();
  }
}
