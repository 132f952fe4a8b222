import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { CoppiceError, sentence } from "../errors";
import type { Chat } from "./panel";
import { html } from "./html";
import { target } from "./links";
import { type FromPage, fromPageMessage, memoryOf, type ToPage } from "./messages";
import { ModelOffer } from "./offer";
import { ShownConversation } from "./shown";
import { PromptFailure, Turns } from "./turns";
import { Works } from "./works";

const MEMORY = "coppice.chat.memory";
const MOST_CONVERSATIONS = 200;

/** The Chat view: carries what the page asks for to the server, and what happens there to the page. */
export class ChatView implements Chat, vscode.WebviewViewProvider, vscode.Disposable {
  readonly #turns: Turns;
  readonly #works: Works;
  readonly #shown: ShownConversation;
  readonly #offer: ModelOffer;
  readonly #listening: vscode.Disposable[];
  #view: vscode.WebviewView | undefined;
  #isReady = false;
  /** What is to be said to a page that is not there yet. */
  #waiting: ToPage[] = [];

  constructor(
    private readonly bundles: vscode.Uri,
    private readonly client: CoppiceClient,
    private readonly conversations: Conversations,
    private readonly memento: vscode.Memento,
  ) {
    const post = (message: ToPage): void => { this.#post(message); };
    this.#turns = new Turns(client);
    this.#works = new Works(client, () => conversations.active, (conversationId, work) => { post({ type: "work", conversationId, work }); });
    this.#shown = new ShownConversation(client, this.#turns, this.#works, post);
    this.#offer = new ModelOffer(post);
    this.#listening = [
      this.#turns.onUpdate((update) => { post({ type: "update", ...update }); }),
      this.#turns.onDidChange((conversationId) => {
        post({ type: "turn", conversationId, running: this.#turns.isRunning(conversationId) });
      }),
      conversations.onDidChangeActive((id) => { this.#guard(this.#shown.show(id)); }),
      client.onDidChangeState(() => { this.#serverChanged(); }),
      client.onNotification("coppice/usageChanged", (usage) => { post({ type: "usage", ...usage }); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId, changes }) => {
        if (conversationId !== this.#shown.id || changes.includes("deleted")) return;
        if (changes.includes("name")) this.#guard(this.#shown.rename());
        if (changes.includes("entries") || changes.includes("leaf")) this.#guard(this.#shown.refresh());
      }),
      client.onNotification("coppice/compactionEnded", ({ conversationId, status }) => {
        if (conversationId !== this.#shown.id || status !== "cancelled") return;
        post({ type: "notice", level: "info", text: "The compaction was cancelled. Nothing was changed." });
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("coppice.chat")) this.#postPreferences();
      }),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [this.bundles] };
    view.webview.onDidReceiveMessage((value: unknown) => {
      const message = fromPageMessage(value);
      if (message !== undefined) this.#guard(this.#handle(message));
    });
    view.onDidChangeVisibility(() => {
      // A hidden page is gone; it is made anew when the view is shown.
      if (!view.visible) this.#isReady = false;
    });
    view.onDidDispose(() => {
      this.#view = undefined;
      this.#isReady = false;
    });
    view.webview.html = html(view.webview, this.bundles);
  }

  setInput(text: string): void {
    this.#say({ type: "input", text });
    this.#reveal();
  }

  focus(): void {
    this.#say({ type: "focus" });
    this.#reveal();
  }

  dispose(): void {
    for (const each of [...this.#listening, this.#turns, this.#works, this.#offer]) each.dispose();
  }

  async #handle(message: FromPage): Promise<void> {
    const conversationId = this.#shown.id;
    switch (message.type) {
      case "ready":
        await this.#greet();
        return;
      case "send":
        await this.#send(message.text);
        return;
      case "showEarlier":
        await this.#shown.showEarlier(message.before);
        return;
      case "showUsage":
        await this.#shown.showUsage();
        return;
      case "listConversations":
        await this.#list();
        return;
      case "open":
        await this.conversations.select(message.conversationId);
        return;
      case "newConversation":
        await this.conversations.select(undefined);
        this.#post({ type: "focus" });
        return;
      case "remember":
        await this.memento.update(MEMORY, message.memory);
        return;
      case "openLink":
        await openLink(message.href);
        return;
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        return;
      case "run":
        await vscode.commands.executeCommand(message.command);
        return;
      case "takeModel":
        await this.#offer.take();
        return;
    }
    if (conversationId === undefined) return;
    switch (message.type) {
      case "stop":
        await this.#turns.stop(conversationId);
        return;
      case "compact":
        await this.#compact(conversationId);
        return;
      case "undoCompaction":
        await this.client.request("coppice/undoCompaction", { conversationId, compactionId: message.entryId });
        return;
      case "edit": {
        const { editorText } = await this.client.request("coppice/navigate", { conversationId, targetId: message.entryId });
        if (editorText !== undefined) this.#post({ type: "input", text: editorText });
        return;
      }
    }
  }

  async #greet(): Promise<void> {
    this.#isReady = true;
    this.#postPreferences();
    this.#post({ type: "memory", memory: memoryOf(this.memento.get(MEMORY)) });
    this.#serverChanged();
    await this.client.start();
    await this.#shown.show(this.conversations.active);
    for (const message of this.#waiting.splice(0)) this.#post(message);
  }

  async #send(text: string): Promise<void> {
    try {
      const conversationId = this.#shown.id ?? (await this.conversations.create()).id;
      await this.#turns.run(conversationId, text);
    } catch (error) {
      if (!(error instanceof PromptFailure && error.heard)) this.#post({ type: "input", text, ifEmpty: true });
      throw error instanceof PromptFailure ? error.cause : error;
    }
  }

  async #compact(conversationId: string): Promise<void> {
    const { entry, warnings, report } = await this.client.request("coppice/compact", { conversationId });
    this.#post({ type: "compacted", entryId: entry.id, warnings, report });
  }

  async #list(): Promise<void> {
    const { conversations } = await this.client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS });
    this.#post({ type: "conversations", conversations });
  }

  #serverChanged(): void {
    const { state } = this.client;
    this.#post({ type: "server", state: state === "failed" ? "stopped" : state });
    if (state === "running" && this.#isReady) this.#guard(this.#shown.refresh());
  }

  #postPreferences(): void {
    const enterSends = vscode.workspace.getConfiguration("coppice").get("chat.enterSends", true);
    this.#post({ type: "preferences", enterSends });
  }

  #post(message: ToPage): void {
    if (this.#isReady) void this.#view?.webview.postMessage(message);
  }

  /** As `#post`, or as soon as there is a page. */
  #say(message: ToPage): void {
    if (this.#isReady) this.#post(message);
    else this.#waiting.push(message);
  }

  #reveal(): void {
    void vscode.commands.executeCommand("coppice.chat.focus");
  }

  /** Whatever goes wrong is told where the user is looking. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof vscode.CancellationError)) this.#report(error);
    });
  }

  #report(error: unknown): void {
    if (this.client.state !== "running") {
      this.#post({ type: "server", state: "stopped", message: sentence(error) });
      return;
    }
    const code = error instanceof CoppiceError ? error.code : undefined;
    const level = code === "nothing-to-compact" || code === "cancelled-by-hook" ? "info" : "error";
    if (code !== "no-model") {
      this.#post({ type: "notice", level, text: sentence(error) });
      return;
    }
    this.#guard(this.#offer.make());
    // What follows the first sentence tells which settings to write; here a button does that.
    const [text = ""] = sentence(error).split(/(?<=\.)\s/);
    this.#post({ type: "notice", level, text, action: { label: "Set Up a Model", command: "coppice.setUpModel" } });
  }
}

async function openLink(href: string): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const found = target(href, folders);
  if (found === undefined) {
    void vscode.window.showWarningMessage(`This link does not lead into the workspace: ${href.slice(0, 200)}`);
  } else if (found.kind === "web") {
    await vscode.env.openExternal(vscode.Uri.parse(found.url, true));
  } else {
    const line = Math.max(0, (found.line ?? 1) - 1);
    const selection = found.line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await vscode.window.showTextDocument(vscode.Uri.file(found.path), { preview: true, ...selection });
  }
}
