import * as vscode from "vscode";

import { plain } from "./format";

/**
 * The notifications of VS Code make links, also to commands, of `[text](address)` in a message. These functions are the
 * only way of the extension to them (ESLint refuses others), and show whatever they are given as plain text.
 */
export const notify = {
  info: (message: string, ...actions: string[]): Thenable<string | undefined> =>
    vscode.window.showInformationMessage(plain(message), ...actions.map(plain)),
  warn: (message: string, ...actions: string[]): Thenable<string | undefined> =>
    vscode.window.showWarningMessage(plain(message), ...actions.map(plain)),
  error: (message: string, ...actions: string[]): Thenable<string | undefined> =>
    vscode.window.showErrorMessage(plain(message), ...actions.map(plain)),
  /** A dialog that must be answered; undefined where it was cancelled. */
  confirm: (message: string, detail: string, action: string): Thenable<string | undefined> =>
    vscode.window.showWarningMessage(plain(message), { modal: true, detail: plain(detail) }, action),
};
