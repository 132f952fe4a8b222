import type * as vscode from "vscode";

import { counted } from "../format";

/** Where VS Code shows a page of the chat: a view of the sidebar, or a tab of the editor. */
export interface Surface {
  readonly webview: vscode.Webview;
  isVisible(): boolean;
  /** It is the one of its kind that the user works with. */
  isActive(): boolean;
  /** Calls `listener` when it was shown, hidden, or has become active. */
  onDidChange(listener: () => void): void;
  onDidDispose(listener: () => void): void;
  setTitle(title: string): void;
  /** Shows how many tools wait for approval. */
  setWaiting(count: number): void;
}

export function viewSurface(view: vscode.WebviewView): Surface {
  return {
    webview: view.webview,
    isVisible: () => view.visible,
    isActive: () => false, // VS Code does not report it.
    onDidChange: (listener) => { view.onDidChangeVisibility(listener); },
    onDidDispose: (listener) => { view.onDidDispose(listener); },
    setTitle: () => undefined, // The page itself names the conversation.
    setWaiting: (count) => { view.badge = count === 0 ? undefined : { value: count, tooltip: `${counted(count, "tool")} waiting for approval` }; },
  };
}

export function tabSurface(panel: vscode.WebviewPanel): Surface {
  return {
    webview: panel.webview,
    isVisible: () => panel.visible,
    isActive: () => panel.active,
    onDidChange: (listener) => { panel.onDidChangeViewState(listener); },
    onDidDispose: (listener) => { panel.onDidDispose(listener); },
    setTitle: (title) => { panel.title = title; },
    setWaiting: () => undefined, // A tab has no badge; its title has a sign.
  };
}
