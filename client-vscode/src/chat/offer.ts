import * as vscode from "vscode";

import { setEditorModel } from "../settings/personal";
import type { ToPage } from "./messages";

/**
 * The model of VS Code that the page offers once the server has reported that none is set. It is the user who takes it:
 * an editor's settings rank above the user's `settings.toml`, which a model that took itself would overrule.
 */
export class ModelOffer implements vscode.Disposable {
  readonly #post: (message: ToPage) => void;
  readonly #listening: vscode.Disposable;
  #isWanted = false;
  #model: vscode.LanguageModelChat | undefined;

  constructor(post: (message: ToPage) => void) {
    this.#post = post;
    this.#listening = vscode.lm.onDidChangeChatModels(() => {
      if (this.#isWanted) void this.#look();
    });
  }

  /** While an offer is wanted, the page is sent the first model that there is, and of every change. */
  async want(isWanted: boolean): Promise<void> {
    this.#isWanted = isWanted;
    if (isWanted) await this.#look();
  }

  async take(): Promise<void> {
    const model = this.#model;
    if (model === undefined) return;
    await setEditorModel(model);
    this.#isWanted = false;
    this.#post({ type: "notice", level: "info", text: `${model.name} answers from now on.` });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  async #look(): Promise<void> {
    [this.#model] = await vscode.lm.selectChatModels();
    this.#post({ type: "modelOffer", name: this.#model?.name });
  }
}
