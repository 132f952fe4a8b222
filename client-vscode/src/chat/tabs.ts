import * as v from "valibot";
import * as vscode from "vscode";

import type { Chats } from "./chats";
import { tabSurface } from "./surface";

const TYPE = "coppice.chatTab";
/** What VS Code keeps for a tab over a reload; `webview/page.ts` sets it. A page writes it, so it is checked. */
const state = v.object({ conversationId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(500))) });

/** Chats in tabs of the editor. VS Code brings them back after a reload. */
export class ChatTabs implements vscode.WebviewPanelSerializer {
  constructor(private readonly chats: Chats) {}

  register(): vscode.Disposable {
    return vscode.window.registerWebviewPanelSerializer(TYPE, this);
  }

  open(conversationId: string | undefined): void {
    this.#add(vscode.window.createWebviewPanel(TYPE, "Coppice Chat", vscode.ViewColumn.Active), conversationId);
    this.chats.focus();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, serialized: unknown): Promise<void> {
    const parsed = v.safeParse(state, serialized);
    this.#add(panel, parsed.success ? parsed.output.conversationId : undefined);
    return Promise.resolve();
  }

  #add(panel: vscode.WebviewPanel, conversationId: string | undefined): void {
    panel.iconPath = vscode.Uri.joinPath(this.chats.bundles, "..", "media", "icon.png");
    this.chats.addTab(tabSurface(panel), conversationId, () => { panel.reveal(); });
  }
}
