import * as vscode from "vscode";

import type { ChatAccess, Feature } from "../../chat/feature";
import type { FromPage, ToPage } from "../../chat/messages";
import type { CoppiceClient } from "../../client";
import { quotedName } from "../../context/tags";
import { entryOf } from "../../entries";
import { takenBack } from "../change";
import { ToolError } from "../errors";
import { changeOf, type FileChange } from "../file-change";
import { type Place, placeOf } from "../paths";
import { type Verdict, type Verdicts, withVerdict } from "../review";
import { undo } from "../undo";
import type { BeforeDocuments } from "./before";
import { readText } from "./files";
import type { EditorHost } from "./host";

const KEY = "coppice.edits";

/** Keeping and undoing the edits of a model, one by one. */
export class EditReview implements Feature {
  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly host: EditorHost,
    private readonly memory: vscode.Memento,
    private readonly before: BeforeDocuments,
  ) {}

  greet(post: (message: ToPage) => void): void {
    post({ type: "edits", verdicts: this.#verdicts });
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type !== "reviewEdit") return false;
    if (conversationId === undefined) return true;
    const { entryId, toolCallId } = message;
    if (message.action === "keep") {
      await this.mark([toolCallId], "kept");
      return true;
    }
    const entry = await entryOf(this.client, conversationId, entryId);
    const change = entry.type === "message" && entry.message.role === "toolResult" ? changeOf(entry.message.details) : undefined;
    if (change === undefined) throw new ToolError("This result holds no edit.");
    if (message.action === "open") await this.#open(change);
    else await this.#undo(conversationId, toolCallId, change);
    return true;
  }

  verdictOf(toolCallId: string): Verdict | undefined {
    return this.#verdicts[toolCallId];
  }

  /** Remembers and shows what became of edits; undefined is undecided again. */
  async mark(toolCallIds: readonly string[], verdict: Verdict | undefined): Promise<void> {
    const verdicts = toolCallIds.reduce((all, id) => withVerdict(all, id, verdict), this.#verdicts);
    await this.memory.update(KEY, verdicts);
    this.chat.post({ type: "edits", verdicts });
  }

  /** Notifies the model, after the turn that runs, if one does. */
  async inform(conversationId: string, content: string): Promise<void> {
    await this.chat.whenIdle(conversationId);
    await this.client.request("coppice/append", { conversationId, entries: [{ type: "custom_message", customType: "Note to the model", content, display: true }] });
  }

  get #verdicts(): Verdicts {
    return this.memory.get<Verdicts>(KEY, {});
  }

  async #undo(conversationId: string, toolCallId: string, change: FileChange): Promise<void> {
    if (!this.host.isTrusted) throw new ToolError("This workspace is not trusted: nothing in it can be changed.");
    if (!(await undo(change, this.host))) return;
    await this.mark([toolCallId], "undone");
    await this.inform(conversationId, `The user undid your change of ${quotedName(change.path)}. It is as it was before that change.`);
  }

  /** The change in the editor's own view of differences. */
  async #open(change: FileChange): Promise<void> {
    const place = await this.#place(change);
    const before = takenBack(change, await readText(place.path));
    if (before === undefined) {
      await vscode.window.showTextDocument(vscode.Uri.file(place.path));
      return;
    }
    const left = this.before.add(place.shown, () => before.content ?? "");
    await vscode.commands.executeCommand("vscode.diff", left, vscode.Uri.file(place.path), `${place.shown}: change of the model`);
  }

  #place(change: FileChange): Promise<Place> {
    return placeOf(this.host.folders, change.path);
  }
}
