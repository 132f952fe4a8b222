import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { title } from "../conversation-list/model";
import { CoppiceError } from "../errors";
import type { ConversationChanged } from "../protocol.gen";
import { type Activities, titleWith } from "./activity";
import { html } from "./html";
import { type FromPage, fromPageMessage, type ToPage } from "./messages";
import { ShownConversation } from "./shown";
import type { Surface } from "./surface";
import type { Turns } from "./turns";
import type { Works } from "./works";

/** What a page needs of the window that it is in. */
export interface PageHost {
  readonly bundles: vscode.Uri;
  readonly client: CoppiceClient;
  readonly turns: Turns;
  readonly works: Works;
  readonly activities: Activities;
  handle(message: FromPage, page: ChatPage): Promise<void>;
  /** The page shows another conversation from now on. */
  onShown(page: ChatPage): void;
  /** The page has read its conversation from the server. */
  onRead(page: ChatPage): void;
  /** The user works with the page. */
  onActive(page: ChatPage): void;
  /** The page has the keyboard, or has it no more. */
  onFocus(page: ChatPage, isFocused: boolean): void;
  /** Reports an error of `work` on the page. */
  guard(work: Promise<void>, page: ChatPage): void;
}

/** A page of the chat with the conversation that it shows. VS Code removes a page that is hidden, and makes it anew. */
export class ChatPage {
  readonly shown: ShownConversation;
  readonly #host: PageHost;
  #surface: Surface | undefined;
  #isReady = false;
  #title = "New conversation";
  #showing: Promise<void> = Promise.resolve();
  /** What is to be shown as soon as there is a page. */
  #afterGreeting: (() => Promise<void>) | undefined;
  /** What is to be sent to a page that is not there yet. */
  #waiting: ToPage[] = [];

  /** `reveal` brings what the page is in to the front, and gives it the focus. */
  constructor(host: PageHost, conversationId: string | undefined, readonly reveal: () => void) {
    this.#host = host;
    this.shown = new ShownConversation(host.client, host.turns, host.works, (message) => {
      if (message.type === "shown" || message.type === "renamed") {
        this.#title = message.conversation === null ? "New conversation" : title(message.conversation);
        this.showTitle();
        host.onRead(this);
      }
      this.post(message);
    }, conversationId);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** The user can see the page. */
  get isVisible(): boolean {
    return this.#surface?.isVisible() === true;
  }

  attach(surface: Surface): void {
    this.#surface = surface;
    const { webview } = surface;
    webview.options = { enableScripts: true, localResourceRoots: [this.#host.bundles] };
    webview.onDidReceiveMessage((value: unknown) => {
      const message = fromPageMessage(value);
      if (message?.type === "focused" || message?.type === "blurred") this.#host.onFocus(this, message.type === "focused");
      else if (message !== undefined) this.#host.guard(this.#host.handle(message, this), this);
    });
    surface.onDidChange(() => {
      if (!surface.isVisible()) this.#leave();
      if (surface.isActive()) this.#host.onActive(this);
    });
    surface.onDidDispose(() => {
      if (this.#surface !== surface) return;
      this.#surface = undefined;
      this.#leave();
    });
    webview.html = html(webview, this.#host.bundles);
  }

  #leave(): void {
    this.#isReady = false;
    this.#host.onFocus(this, false);
  }

  post(message: ToPage): void {
    if (this.#isReady) void this.#surface?.webview.postMessage(message);
  }

  /** As `post`, or as soon as there is a page. */
  postWhenReady(message: ToPage): void {
    if (this.#isReady) this.post(message);
    else this.#waiting.push(message);
  }

  /** Shows a conversation, or with undefined a new one. `isMade`: the first message, sent from this page, has made it. */
  async show(conversationId: string | undefined, isMade = false): Promise<void> {
    const showing = this.shown.show(conversationId, isMade);
    this.#showing = showing.catch(() => undefined);
    this.#host.onShown(this);
    await showing;
  }

  /** Gives the focus to the input. It waits for a conversation that is about to be shown: what is typed belongs to that. */
  async focus(): Promise<void> {
    this.reveal();
    await this.#showing;
    this.postWhenReady({ type: "focus" });
  }

  /** Shows the title, with a sign of what the conversation does. */
  showTitle(): void {
    const { id } = this.shown;
    this.#surface?.setTitle(titleWith(id === undefined ? undefined : this.#host.activities.of(id), this.#title));
  }

  setWaiting(count: number): void {
    this.#surface?.setWaiting(count);
  }

  /** Brings the page up to date after a change of its conversation. */
  async follow({ conversationId, leafId, changes }: ConversationChanged): Promise<void> {
    if (changes.includes("deleted")) {
      await this.show(undefined);
    } else if (leafId === null) {
      await this.shown.show(conversationId); // Nothing is on the path any more.
    } else {
      if (changes.includes("name") || changes.includes("model")) await this.shown.rename();
      if (changes.some((change) => change === "entries" || change === "leaf" || change === "labels" || change === "pins")) await this.shown.refresh();
    }
  }

  /** A new page is there; it can be posted to, and shows nothing yet. */
  begin(): void {
    this.#isReady = true;
    this.shown.close();
  }

  /** The new page has what it needs to show conversations. */
  async greeted(): Promise<void> {
    for (const message of this.#waiting.splice(0)) this.post(message);
    const pending = this.#afterGreeting;
    this.#afterGreeting = undefined;
    await pending?.();
  }

  /** Shows the page's conversation, or what has changed in it since it was shown. One that was deleted is shown no more. */
  async showCurrent(): Promise<void> {
    try {
      await (this.shown.isOpen ? this.shown.refresh() : this.shown.show(this.shown.id));
    } catch (error) {
      if (!(error instanceof CoppiceError) || error.code !== "unknown-conversation") throw error;
      await this.show(undefined);
    }
  }

  /** Shows a conversation and scrolls to an entry of it; one that is not on the current branch is shown on its own. */
  async goToEntry(conversationId: string, entryId: string, isOnCurrentBranch: boolean): Promise<void> {
    if (conversationId !== this.shown.id) this.#host.guard(this.show(conversationId), this);
    if (!this.#isReady) {
      this.#afterGreeting = () => this.goToEntry(conversationId, entryId, isOnCurrentBranch);
    } else if (isOnCurrentBranch) {
      this.shown.endPreview();
      await this.shown.show(conversationId);
      await this.shown.reveal(entryId);
    } else {
      await this.shown.look(conversationId, entryId);
    }
  }
}
