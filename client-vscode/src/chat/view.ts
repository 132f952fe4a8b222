import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { ApprovalDecision } from "../approvals/approval";
import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { entryOf } from "../entries";
import { CoppiceError, NoServerError, sentence, ServerEndedError } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { Servers } from "../server/servers";
import type { ConversationAccess, Feature } from "./feature";
import type { ErrorCode, PromptUpdate } from "../protocol.gen";
import type { Chat } from "./panel";
import { html } from "./html";
import { target } from "./links";
import { type FromPage, fromPageMessage, memoryOf, type ToPage } from "./messages";
import { ModelOffer } from "./offer";
import { interruptedReply, messageContent, textOf } from "./resending";
import { ServerState } from "./server-state";
import { ShownConversation } from "./shown";
import { type Equip, type Outgoing, PromptFailure, Turns } from "./turns";
import { Works } from "./works";

const MEMORY = "coppice.chat.memory";
const MOST_CONVERSATIONS = 200;
/** The errors that are no failure: what a person asked for need not or cannot be done now. */
const QUIET = new Set<ErrorCode>(["nothing-to-compact", "cancelled-by-hook", "conversation-busy"]);

/** The Chat view: carries what the page asks for to the server, and what happens there to the page. */
export class ChatView implements Chat, vscode.WebviewViewProvider, vscode.Disposable {
  readonly #turns: Turns;
  readonly #works: Works;
  readonly #shown: ShownConversation;
  readonly #offer: ModelOffer;
  readonly #server: ServerState;
  readonly #listening: { dispose(): unknown }[];
  readonly #features: Feature[] = [];
  #view: vscode.WebviewView | undefined;
  #isReady = false;
  /** The conversation that a first message made last. */
  #made: string | undefined;
  /** What is to be shown as soon as there is a page. */
  #afterGreeting: (() => Promise<void>) | undefined;
  /** What is to be sent to a page that is not there yet. */
  #waiting: ToPage[] = [];

  constructor(
    private readonly bundles: vscode.Uri,
    private readonly client: CoppiceClient,
    private readonly conversations: Conversations,
    private readonly memento: vscode.Memento,
    private readonly approvals: Approvals,
    servers: Servers,
    equip: Equip,
  ) {
    const post = (message: ToPage): void => { this.#post(message); };
    this.#turns = new Turns(client, approvals, equip);
    this.#works = new Works(client, () => conversations.active, (conversationId, work) => { post({ type: "work", conversationId, work }); });
    this.#shown = new ShownConversation(client, this.#turns, this.#works, post);
    this.#offer = new ModelOffer(post);
    this.#server = new ServerState(client, servers, post, (isSet) => { this.#guard(this.#offer.want(!isSet)); });
    this.#listening = [
      this.#turns.onUpdate((update) => { post({ type: "update", ...update, at: new Date().toISOString() }); }),
      this.#turns.onDidChange((conversationId) => {
        post({ type: "turn", conversationId, running: this.#turns.isRunning(conversationId), elsewhere: this.#turns.isElsewhere(conversationId) });
      }),
      approvals.onDidChange(() => { this.#showApprovals(); }),
      conversations.onDidChangeActive((id) => { this.#guard(this.#shown.show(id, id !== undefined && id === this.#made)); }),
      client.onDidChangeState((state) => { if (state === "running" && this.#isReady) this.#guard(this.#showCurrent()); }),
      client.onNotification("coppice/usageChanged", (usage) => { post({ type: "usage", ...usage }); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId, leafId, changes }) => {
        if (conversationId !== this.#shown.id || changes.includes("deleted")) return;
        if (leafId === null) {
          this.#guard(this.#shown.show(conversationId)); // Nothing is on the path any more.
          return;
        }
        if (changes.includes("name")) this.#guard(this.#shown.rename());
        if (changes.some((change) => change === "entries" || change === "leaf" || change === "labels" || change === "pins")) this.#guard(this.#shown.refresh());
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

  /** Adds a part of the chat with messages of its own. */
  addFeature(make: (access: ConversationAccess) => Feature): void {
    this.#features.push(
      make({
        post: (message) => { this.#post(message); },
        shown: this.#shown,
        isRunning: (conversationId) => this.#turns.isRunning(conversationId),
        run: (conversationId, text, attachments) => { this.#guard(this.#run(conversationId, { text: text, attachments: attachments })); },
        stop: (conversationId) => this.#turns.stop(conversationId),
        onTurnEnd: (listener) => { this.#turns.onDidEnd(listener); },
        whenIdle: (conversationId) => this.#turns.whenIdle(conversationId),
      }),
    );
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
    this.#showApprovals();
    view.webview.html = html(view.webview, this.bundles);
  }

  setInput(text: string): void {
    this.#postWhenReady({ type: "input", conversationId: this.#shown.id ?? "", text });
    this.#reveal();
  }

  reveal(conversationId: string, entryId: string, isOnCurrentBranch = true): void {
    this.#guard(this.#goToEntry(conversationId, entryId, isOnCurrentBranch));
    this.#reveal();
  }

  focus(): void {
    this.#postWhenReady({ type: "focus" });
    this.#reveal();
  }

  dispose(): void {
    for (const each of [...this.#listening, this.#turns, this.#works, this.#offer, this.#server]) each.dispose();
  }

  async #handle(message: FromPage): Promise<void> {
    const conversationId = this.#shown.id;
    for (const feature of this.#features) {
      if (await feature.handle(message, conversationId)) return;
    }
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
        if (this.#shown.preview !== undefined) {
          this.#shown.endPreview();
          await this.#shown.show(this.#shown.id);
        }
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
      case "decide":
        await this.#decide(message.id, message.decision);
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
      case "resend":
        await this.#resend(conversationId, message.entryId, message.text);
        return;
    }
  }

  async #greet(): Promise<void> {
    this.#isReady = true;
    this.#postPreferences();
    this.#post({ type: "memory", memory: memoryOf(this.memento.get(MEMORY)) });
    this.#showApprovals();
    for (const feature of this.#features) feature.greet((message) => { this.#post(message); });
    this.#shown.close();
    this.#server.show();
    // Why it does not start is part of the server's state.
    const isRunning = await this.client.start().then(() => true, () => false);
    if (isRunning) await this.#showCurrent();
    for (const message of this.#waiting.splice(0)) this.#post(message);
    const pending = this.#afterGreeting;
    this.#afterGreeting = undefined;
    await pending?.();
  }

  /** Shows the active conversation, or what has changed in it since it was shown. */
  async #showCurrent(): Promise<void> {
    await Promise.all([this.#server.showModel(), this.#shown.isOpen ? this.#shown.refresh() : this.#shown.show(this.conversations.active)]);
  }

  #showApprovals(): void {
    const approvals = this.approvals.pending();
    this.#post({ type: "approvals", approvals: [...approvals] });
    const waiting = approvals.filter(({ interrupted }) => !interrupted).length;
    if (this.#view !== undefined) {
      this.#view.badge = waiting === 0 ? undefined : { value: waiting, tooltip: `${counted(waiting, "tool")} waiting for approval` };
    }
  }

  /** A call that is not waiting any more is made again by the model, which a message of the user's asks for. */
  async #decide(id: string, decision: ApprovalDecision): Promise<void> {
    const asked = this.approvals.decide(id, decision);
    if (asked?.interrupted !== true || asked.conversationId !== this.#shown.id) return;
    if (decision.kind !== "deny") {
      await this.#send(`Your call of ${asked.tool} was interrupted before I could approve it. I approve it: make the same call again.`);
    } else if (decision.message !== undefined) {
      await this.#send(decision.message);
    }
  }

  async #goToEntry(conversationId: string, entryId: string, isOnCurrentBranch: boolean): Promise<void> {
    await this.conversations.select(conversationId);
    if (!this.#isReady) {
      this.#afterGreeting = () => this.#goToEntry(conversationId, entryId, isOnCurrentBranch);
    } else if (isOnCurrentBranch) {
      this.#shown.endPreview();
      await this.#shown.show(conversationId);
      await this.#shown.reveal(entryId);
    } else {
      await this.#shown.look(conversationId, entryId);
    }
  }

  /** Goes back to before a message of the user's, which leaves the branch as it is, and sends the message there. */
  async #resend(conversationId: string, entryId: string, text: string | undefined): Promise<void> {
    const content = messageContent(await entryOf(this.client, conversationId, entryId), text);
    const { cancelled } = await this.client.request("coppice/navigate", { conversationId, targetId: entryId });
    if (cancelled) this.#post({ type: "notice", level: "info", text: "An extension kept the conversation on its branch." });
    else await this.#run(conversationId, { content });
  }

  async #send(text: string): Promise<void> {
    const conversationId = this.#shown.id ?? (await this.#create(text));
    await this.#run(conversationId, { text });
  }

  async #create(text: string): Promise<string> {
    try {
      const { id } = await this.conversations.make();
      this.#made = id;
      await this.conversations.select(id);
      return id;
    } catch (error) {
      this.#post({ type: "input", conversationId: "", text, ifEmpty: true });
      throw error;
    }
  }

  /** Runs a turn. A message that was not stored goes back into the input; a reply that was cut off is kept. */
  async #run(conversationId: string, outgoing: Outgoing): Promise<void> {
    try {
      await this.#turns.run(conversationId, outgoing);
    } catch (error) {
      if (!(error instanceof PromptFailure)) throw error;
      if (!error.isStored) this.#post({ type: "input", conversationId, text: textOf(outgoing), ifEmpty: true });
      else if (error.cause instanceof ServerEndedError) await this.#keep(conversationId, error.pieces);
      if (!error.isExplained) throw error.cause;
      const kind = error.cause instanceof CoppiceError ? error.cause.kind : undefined;
      this.#post({ type: "turnFailed", conversationId, kind: kind === "auth" || kind === "not-found" ? kind : undefined });
    }
  }

  /** Stores what had come of a reply when the server ended, as soon as the server runs again. */
  async #keep(conversationId: string, pieces: readonly PromptUpdate[]): Promise<void> {
    await this.client.request("coppice/append", { conversationId, entries: [interruptedReply(pieces)] });
  }

  async #compact(conversationId: string): Promise<void> {
    const { entry, warnings, report } = await this.client.request("coppice/compact", { conversationId });
    this.#post({ type: "compacted", entryId: entry.id, warnings, report });
  }

  async #list(): Promise<void> {
    const { conversations } = await this.client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS });
    this.#post({ type: "conversations", conversations });
  }

  #postPreferences(): void {
    const enterSends = vscode.workspace.getConfiguration("coppice").get("chat.enterSends", true);
    this.#post({ type: "preferences", enterSends });
  }

  #post(message: ToPage): void {
    if (this.#isReady) void this.#view?.webview.postMessage(message);
  }

  /** As `#post`, or as soon as the page is ready. */
  #postWhenReady(message: ToPage): void {
    if (this.#isReady) this.#post(message);
    else this.#waiting.push(message);
  }

  #reveal(): void {
    void vscode.commands.executeCommand("coppice.chat.focus");
  }

  /** Whatever goes wrong is reported where the user is looking. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof vscode.CancellationError)) this.#report(error);
    });
  }

  #report(error: unknown): void {
    // The page shows the state of the server by itself.
    if (!this.client.isAvailable || error instanceof NoServerError || error instanceof ServerEndedError) return;
    const code = error instanceof CoppiceError ? error.code : undefined;
    const level = code !== undefined && QUIET.has(code) ? "info" : "error";
    if (code !== "no-model") {
      this.#post({ type: "notice", level, text: sentence(error) });
      return;
    }
    this.#guard(this.#offer.want(true));
    // What follows the first sentence names the settings to write; here a button does that.
    const [text = ""] = sentence(error).split(/(?<=\.)\s/);
    this.#post({ type: "notice", level, text, action: { label: "Choose a Model", command: "coppice.setUpModel" } });
  }
}

async function openLink(href: string): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const found = target(href, folders);
  if (found === undefined) {
    void notify.warn(`This link does not lead into the workspace: ${href.slice(0, 200)}`);
  } else if (found.kind === "web") {
    await vscode.env.openExternal(vscode.Uri.parse(found.url, true));
  } else {
    const line = Math.max(0, (found.line ?? 1) - 1);
    const selection = found.line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await vscode.window.showTextDocument(vscode.Uri.file(found.path), { preview: true, ...selection });
  }
}
