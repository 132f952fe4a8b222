import * as vscode from "vscode";

import type { Approvals } from "../approvals/approvals";
import type { CoppiceClient } from "../client";
import type { Conversations } from "../conversations";
import { CoppiceError, NoServerError, sentence, ServerEndedError } from "../errors";
import type { ErrorCode } from "../protocol.gen";
import type { Servers } from "../server/servers";
import { Activities } from "./activity";
import type { ChatAccess, Feature } from "./feature";
import { ChatMemory, draftWith } from "./memory";
import type { FromPage, ToPage } from "./messages";
import { ModelOffer } from "./offer";
import { ChatPage, type PageHost } from "./page";
import type { Chat } from "./panel";
import { Requests } from "./requests";
import { Sending } from "./sending";
import { ServerState } from "./server-state";
import { setPrices } from "./set-prices";
import type { Surface } from "./surface";
import { type Equip, Turns } from "./turns";
import { Works } from "./works";

/** The key of the conversation in the sidebar; null is a new one. */
const SIDEBAR = "coppice.chat.sidebar";
/** The errors that are no failure: what a person asked for need not or cannot be done now. */
const QUIET = new Set<ErrorCode>(["nothing-to-compact", "cancelled-by-hook", "conversation-busy"]);

/**
 * The chats of this window, one in the sidebar and one in each tab: carries what a page asks for to the server, and what
 * happens there to all pages. The active conversation is that of the page with which the user worked last.
 */
export class Chats implements Chat, PageHost, vscode.Disposable {
  readonly turns: Turns;
  readonly works: Works;
  readonly sidebar: ChatPage;
  readonly activities: Activities;
  readonly #pages = new Set<ChatPage>();
  /** The focus of one may be reported before the loss of another's. */
  readonly #focused = new Set<ChatPage>();
  readonly #memory: ChatMemory;
  readonly #offer: ModelOffer;
  readonly #server: ServerState;
  readonly #sending: Sending;
  readonly #requests: Requests;
  readonly #features: Feature[] = [];
  readonly #listening: { dispose(): unknown }[];
  #active: ChatPage;
  /** The server's start for a page that is being loaded. */
  #starting: Promise<void> | undefined;

  constructor(
    readonly bundles: vscode.Uri,
    readonly client: CoppiceClient,
    private readonly conversations: Conversations,
    private readonly memento: vscode.Memento,
    private readonly approvals: Approvals,
    servers: Servers,
    equip: Equip,
  ) {
    const post = (message: ToPage): void => { this.#post(message); };
    const putDraft: ChatAccess["putDraft"] = (...given) => { this.#putDraft(...given); };
    this.turns = new Turns(client, approvals, equip);
    this.activities = new Activities(approvals, this.turns);
    this.works = new Works(client, () => conversations.active, {
      work: (conversationId, work) => { post({ type: "work", conversationId, work }); },
      background: (conversationId, status) => { post({ type: "background", conversationId, status }); },
    });
    this.#memory = new ChatMemory(memento);
    this.#offer = new ModelOffer(post);
    this.#server = new ServerState(client, servers, post, (isSet) => { this.guard(this.#offer.want(!isSet)); });
    const showMade = (page: ChatPage, id: string): void => {
      for (const feature of this.#features) feature.made?.(id);
      this.guard(page.show(id, true), page);
    };
    this.#sending = new Sending(client, conversations, approvals, this.turns, { post, putDraft, showMade });
    this.#requests = new Requests(client, this.#memory, this.#offer, this.turns, this.#sending);
    const stored = memento.get<string | null>(SIDEBAR);
    this.sidebar = this.#active = this.#add(stored === undefined ? conversations.active : stored ?? undefined, () => void vscode.commands.executeCommand("coppice.chat.focus"));
    this.#listening = [
      this.turns.onUpdate((update) => { post({ type: "update", ...update, at: new Date().toISOString() }); }),
      this.turns.onDidChange((conversationId) => {
        post({ type: "turn", conversationId, running: this.turns.isRunning(conversationId), elsewhere: this.turns.isElsewhere(conversationId) });
      }),
      approvals.onDidChange(() => { this.#showApprovals(); }),
      this.activities.onDidChange(() => { this.#showActivities(); }),
      conversations.onDidChangeActive((id) => { if (id !== this.#active.shown.id) this.guard(this.#active.show(id), this.#active); }),
      client.onDidChangeState((state) => {
        if (state === "running") for (const page of this.#pages) if (page.isReady) this.guard(this.#showCurrent(page), page);
      }),
      client.onNotification("coppice/usageChanged", (usage) => { post({ type: "usage", ...usage }); }),
      client.onNotification("coppice/conversationChanged", (change) => {
        for (const page of this.#showing(change.conversationId)) this.guard(page.follow(change), page);
      }),
      client.onNotification("coppice/compactionEnded", ({ conversationId, status }) => {
        if (status !== "cancelled") return;
        for (const page of this.#showing(conversationId)) page.post({ type: "notice", level: "info", text: "The compaction was cancelled. Nothing was changed." });
      }),
      vscode.workspace.onDidChangeConfiguration((event) => { if (event.affectsConfiguration("coppice.chat")) this.#postPreferences(); }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => { this.#postPreferences(); }),
    ];
  }

  /** Adds a part of the chat with messages of its own. */
  addFeature(make: (access: ChatAccess) => Feature): void {
    this.#features.push(
      make({
        post: (message) => { this.#post(message); },
        putDraft: (...given) => { this.#putDraft(...given); },
        isRunning: (conversationId) => this.turns.isRunning(conversationId),
        run: (conversationId, outgoing) => { this.guard(this.#sending.run(conversationId, outgoing), this.#showing(conversationId)[0]); },
        stop: (conversationId) => this.turns.stop(conversationId),
        onTurnEnd: (listener) => { this.turns.onDidEnd(listener); },
        whenIdle: (conversationId) => this.turns.whenIdle(conversationId),
      }),
    );
  }

  /** Adds a tab with a page of its own. */
  addTab(surface: Surface, conversationId: string | undefined, reveal: () => void): void {
    const page = this.#add(conversationId, reveal);
    page.attach(surface);
    if (surface.isActive()) this.onActive(page);
    surface.onDidDispose(() => {
      this.#pages.delete(page);
      if (page === this.#active) this.onActive(this.sidebar);
    });
  }

  /** The sidebar is opened. VS Code takes seconds to load a page; the server starts meanwhile. */
  attachSidebar(surface: Surface): void {
    this.#starting = this.#start();
    this.sidebar.attach(surface);
  }

  setInput(text: string): void {
    this.#putDraft(this.#active.shown.id ?? "", text);
    this.#active.reveal();
  }

  reveal(conversationId: string, entryId: string, isOnCurrentBranch = true): void {
    const page = this.#active;
    this.guard(page.goToEntry(conversationId, entryId, isOnCurrentBranch), page);
    page.reveal();
  }

  focus(): void {
    void this.#active.focus();
  }

  show(conversationId: string): void {
    const page = this.#showing(conversationId)[0] ?? this.#active;
    if (page.shown.id !== conversationId || page.shown.preview !== undefined) {
      page.shown.endPreview();
      this.guard(page.show(conversationId), page);
    }
    void page.focus();
  }

  showWaiting(): void {
    const waiting = this.activities.waiting(this.#active.isVisible ? this.#active.shown.id : undefined);
    if (waiting === undefined) this.focus();
    else this.show(waiting);
  }

  answerApproval(decision: "allow" | "deny"): void {
    this.#active.post({ type: "answerApproval", decision });
  }

  isSeen(conversationId: string): boolean {
    return this.#showing(conversationId).some(({ isVisible }) => isVisible);
  }

  onActive(page: ChatPage): void {
    this.#active = page;
    this.guard(this.conversations.select(page.shown.id), page);
  }

  onFocus(page: ChatPage, isFocused: boolean): void {
    if (isFocused) this.#focused.add(page);
    else this.#focused.delete(page);
    void vscode.commands.executeCommand("setContext", "coppice.chatFocused", this.#focused.size > 0);
    if (isFocused) this.onActive(page);
  }

  onShown(page: ChatPage): void {
    if (page === this.sidebar) void this.memento.update(SIDEBAR, page.shown.id ?? null);
    if (page === this.#active) this.guard(this.conversations.select(page.shown.id), page);
  }

  onRead(page: ChatPage): void {
    const { id } = this.#active.shown;
    // The server takes the conversation that was read last for the one whose files are tracked.
    if (page !== this.#active && id !== undefined) this.guard(this.client.request("coppice/conversation/get", { conversationId: id }).then(() => undefined));
  }

  async handle(message: FromPage, page: ChatPage): Promise<void> {
    if (message.type === "ready") {
      await this.#greet(page);
      return;
    }
    if (message.type === "draft") {
      for (const other of this.#pages) if (other !== page) other.post(message);
      await this.#memory.keepDraft(message.conversationId, message.text);
      return;
    }
    for (const feature of this.#features) {
      if (await feature.handle(message, page.shown.id, page)) return;
    }
    await this.#requests.handle(message, page);
  }

  /** Whatever goes wrong is reported where the user is looking. */
  guard(work: Promise<void>, page: ChatPage = this.#active): void {
    work.catch((error: unknown) => {
      if (!(error instanceof vscode.CancellationError)) this.#report(error, page);
    });
  }

  dispose(): void {
    for (const each of [...this.#listening, this.turns, this.works, this.#offer, this.#server]) each.dispose();
  }

  #add(conversationId: string | undefined, reveal: () => void): ChatPage {
    const page = new ChatPage(this, conversationId, reveal);
    this.#pages.add(page);
    return page;
  }

  #showing(conversationId: string): ChatPage[] {
    return [...this.#pages].filter(({ shown }) => shown.id === conversationId);
  }

  async #greet(page: ChatPage): Promise<void> {
    page.begin();
    // After a reload the active conversation may be that of a tab that is not there, or hidden.
    if (page === this.#active) this.onActive(page);
    this.#postPreferences();
    page.post({ type: "memory", memory: this.#memory.all });
    this.#showApprovals();
    page.post({ type: "running", conversationIds: this.activities.running });
    for (const feature of this.#features) feature.greet((message) => { page.post(message); });
    this.#server.show();
    const starting = this.#starting ?? this.#start();
    this.#starting = undefined; // A page that is loaded again tries again.
    await starting;
    if (this.client.state === "running") await this.#showCurrent(page);
    await page.greeted();
  }

  async #start(): Promise<void> {
    await this.client.start().catch(() => undefined); // Why it does not start is part of its state.
  }

  async #showCurrent(page: ChatPage): Promise<void> {
    await Promise.all([this.#server.showModel(), page.showCurrent()]);
  }

  #showApprovals(): void {
    const approvals = [...this.approvals.pending()];
    this.#post({ type: "approvals", approvals });
    void vscode.commands.executeCommand("setContext", "coppice.isAsked", approvals.some(({ interrupted }) => !interrupted));
    this.sidebar.setWaiting(approvals.filter(({ interrupted }) => !interrupted).length);
  }

  #showActivities(): void {
    this.#post({ type: "running", conversationIds: this.activities.running });
    for (const page of this.#pages) page.showTitle();
  }

  #putDraft(conversationId: string, given: string, { ifEmpty = false, afterOther = false } = {}): void {
    const other = this.#memory.draft(conversationId);
    if (ifEmpty && other !== "") return;
    const text = afterOther ? draftWith(other, given) : given;
    this.guard(this.#memory.keepDraft(conversationId, text));
    this.#post({ type: "draft", conversationId, text });
    if ((this.#active.shown.id ?? "") === conversationId) this.#active.post({ type: "focus" });
  }

  #postPreferences(): void {
    const enterSends = vscode.workspace.getConfiguration("coppice").get("chat.enterSends", true);
    this.#post({ type: "preferences", enterSends, restricted: !vscode.workspace.isTrusted, prices: setPrices() });
  }

  #post(message: ToPage): void {
    for (const page of this.#pages) page.post(message);
  }

  #report(error: unknown, page: ChatPage): void {
    // The page shows the state of the server by itself.
    if (!this.client.isAvailable || error instanceof NoServerError || error instanceof ServerEndedError) return;
    const code = error instanceof CoppiceError ? error.code : undefined;
    const level = code !== undefined && QUIET.has(code) ? "info" : "error";
    if (code !== "no-model") {
      page.post({ type: "notice", level, text: sentence(error) });
      return;
    }
    this.guard(this.#offer.want(true));
    // What follows the first sentence names the settings to write; here a button does that.
    const [text = ""] = sentence(error).split(/(?<=\.)\s/);
    page.post({ type: "notice", level, text, action: { label: "Choose a Model", command: "coppice.setUpModel" } });
  }
}
