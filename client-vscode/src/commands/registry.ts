import * as vscode from "vscode";

import { CoppiceError, NoServerError, sentence } from "../errors";
import { plain } from "../format";
import { notify } from "../notify";

/** How long a remark stays in the status bar, in milliseconds; a guess. */
const QUIET_MS = 6000;

/** The palette's commands. What one throws is shown to the user, with an action that helps where there is one. */
export class Commands {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
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
      // The chat offers to install one.
      await vscode.commands.executeCommand("coppice.chat.focus");
      return;
    }
    if (error instanceof CoppiceError && error.code === "nothing-to-compact") {
      vscode.window.setStatusBarMessage(plain(error.message), QUIET_MS);
      return;
    }
    const isExpected = error instanceof CoppiceError;
    if (!isExpected) this.log.error(error instanceof Error ? error : String(error));
    const actions = isExpected ? (error.code === "no-model" ? ["Choose a Model…"] : []) : ["Open Log"];
    const chosen = await notify.error(sentence(error), ...actions);
    if (chosen === "Choose a Model…") await vscode.commands.executeCommand("coppice.setUpModel");
    if (chosen === "Open Log") this.log.show();
  }
}
