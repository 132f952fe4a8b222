import * as vscode from "vscode";

import type { EditorHost } from "../agent/editor/host";
import type { ChatAccess, Feature, PageAccess } from "../chat/feature";
import type { FromPage, ToPage } from "../chat/messages";
import type { UserContent } from "../protocol.gen";
import { type Attachment, sameAttachment } from "./attachment";
import { messageContent } from "./content";
import { problems, shownPath, Suggestions } from "./suggestions";

/** The key of what is attached before there is a conversation. */
const NEW = "";

/** What is attached to the next message of each conversation. */
export class Attachments implements Feature, vscode.Disposable {
  readonly #byConversation = new Map<string, readonly Attachment[]>();
  readonly #suggestions: Suggestions;
  readonly #listening: vscode.Disposable;

  constructor(
    private readonly chat: ChatAccess,
    private readonly host: EditorHost,
    private readonly active: () => string | undefined,
  ) {
    this.#suggestions = new Suggestions(host);
    this.#listening = vscode.window.onDidChangeActiveTextEditor(() => { this.#offerOpenFile((message) => { this.chat.post(message); }); });
  }

  greet(post: (message: ToPage) => void): void {
    for (const [key, attachments] of this.#byConversation) post({ type: "attachments", conversationId: key, attachments: [...attachments] });
    this.#offerOpenFile(post);
  }

  async handle(message: FromPage, conversationId: string | undefined, page: PageAccess): Promise<boolean> {
    const key = conversationId ?? NEW;
    switch (message.type) {
      case "complete":
        page.post({ type: "completions", request: message.request, items: await this.#suggestions.for(message.query) });
        return true;
      case "attach":
        this.#add(key, message.attachment);
        return true;
      case "attachUris":
        for (const uri of message.uris) {
          const path = shownPath(vscode.Uri.parse(uri));
          if (path !== undefined) this.#add(key, { kind: "file", path });
        }
        return true;
      case "detach":
        this.#set(key, this.#of(key).toSpliced(message.at, 1));
        return true;
      default:
        return false;
    }
  }

  /** Attaches to the next message of the conversation that is shown. */
  add(attached: Attachment): void {
    this.#add(this.active() ?? NEW, attached);
  }

  /** What is attached to the conversation's next message, which is none any more. */
  take(conversationId: string): readonly Attachment[] {
    const taken = [...this.#of(NEW), ...this.#of(conversationId)];
    for (const key of [NEW, conversationId]) this.#set(key, []);
    return taken;
  }

  /** Puts back what was taken for a message that was not sent. */
  restore(conversationId: string, attachments: readonly Attachment[]): void {
    for (const each of attachments) this.#add(conversationId, each);
  }

  content(text: string, attachments: readonly Attachment[]): Promise<string | UserContent[]> {
    return messageContent(text, attachments, { folders: this.host.folders, read: (path) => this.host.read(path), problems });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #of(key: string): readonly Attachment[] {
    return this.#byConversation.get(key) ?? [];
  }

  #add(key: string, attached: Attachment): void {
    if (!this.#of(key).some((each) => sameAttachment(each, attached))) this.#set(key, [...this.#of(key), attached]);
  }

  #set(key: string, attachments: readonly Attachment[]): void {
    if (attachments.length === 0 && !this.#byConversation.has(key)) return;
    if (attachments.length === 0) this.#byConversation.delete(key);
    else this.#byConversation.set(key, attachments);
    this.chat.post({ type: "attachments", conversationId: key, attachments: [...attachments] });
  }

  #offerOpenFile(post: (message: ToPage) => void): void {
    const editor = vscode.window.activeTextEditor;
    // The chat itself takes the focus from the editor: the last file stays the offer.
    if (editor === undefined && vscode.window.visibleTextEditors.length > 0) return;
    post({ type: "openFile", path: editor === undefined ? undefined : shownPath(editor.document.uri) });
  }
}
