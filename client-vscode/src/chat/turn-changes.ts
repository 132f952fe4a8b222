import * as vscode from "vscode";

import type { BeforeDocuments } from "../agent/editor/before";
import type { EditReview } from "../agent/editor/review";
import type { CoppiceClient } from "../client";
import type { WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchFiles } from "./branch-files";
import type { ChatAccess, Feature } from "./feature";
import type { FromPage, ToPage, TurnFiles } from "./messages";
import { newestTurn, type TurnSpan } from "./turn-span";

const KEY = "coppice.turnChanges";
/** Conversations whose turn is remembered. More than anybody reviews at a time. */
const MOST_CONVERSATIONS = 100;
/** Files that are named and reviewed; as many as an offer names. */
const MOST_NAMED = 100;

interface Undecided {
  span: TurnSpan;
  files: TurnFiles;
}

/** The files that the newest turn of a conversation has changed, kept, undone or reviewed as a whole. */
export class TurnChanges implements Feature {
  constructor(
    private readonly chat: ChatAccess,
    private readonly client: CoppiceClient,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly branchFiles: BranchFiles,
    private readonly edits: EditReview,
    private readonly before: BeforeDocuments,
    private readonly memory: vscode.Memento,
  ) {
    chat.onTurnEnd(({ conversationId, isElsewhere }) => {
      if (isElsewhere) return;
      this.#look(conversationId).catch((error: unknown) => { snapshots.warn(`What the turn has changed is not known. ${String(error)}`); });
    });
  }

  greet(post: (message: ToPage) => void): void {
    for (const [conversationId, { files }] of Object.entries(this.#all)) post({ type: "turnFiles", conversationId, turn: files });
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type !== "reviewTurn") return false;
    const undecided = conversationId === undefined ? undefined : this.#all[conversationId];
    if (conversationId === undefined || undecided?.span.entryId !== message.entryId) return true;
    if (message.action === "review") await this.#review(undecided);
    else if (message.action === "keep") await this.#keep(conversationId, undecided);
    else await this.#undo(conversationId, undecided);
    return true;
  }

  async #look(conversationId: string): Promise<void> {
    const span = vscode.workspace.isTrusted ? await newestTurn(this.client, conversationId) : undefined;
    const changed = span === undefined ? [] : await this.snapshots.differences(span.from, span.to);
    if (span === undefined || changed.length === 0) {
      await this.#put(conversationId, undefined);
      return;
    }
    const files = changed.slice(0, MOST_NAMED).map(({ shown, added, removed }) => ({ path: shown, added, removed }));
    await this.#put(conversationId, { span, files: { entryId: span.entryId, files, more: changed.length - files.length } });
  }

  async #keep(conversationId: string, { span }: Undecided): Promise<void> {
    await this.edits.mark(span.toolCallIds.filter((id) => this.edits.verdictOf(id) === undefined), "kept");
    await this.#put(conversationId, undefined);
  }

  async #undo(conversationId: string, undecided: Undecided): Promise<void> {
    const { leafId, from, to, toolCallIds } = undecided.span;
    const before = toolCallIds.map((id) => [id, this.edits.verdictOf(id)] as const);
    const takeBack = async (): Promise<void> => {
      await this.#put(conversationId, undecided);
      for (const [id, verdict] of before) await this.edits.mark([id], verdict);
    };
    if (!(await this.branchFiles.undoTurn(conversationId, { leafId, base: to, target: from }, takeBack))) return;
    await this.edits.mark(toolCallIds, "undone");
    await this.#put(conversationId, undefined);
  }

  /** The files before the turn against those of now, in one editor. */
  async #review({ span, files }: Undecided): Promise<void> {
    const changed = (await this.snapshots.differences(span.from, span.to)).slice(0, MOST_NAMED);
    const resources = await Promise.all(changed.map(async ({ file, from }) => {
      const now = vscode.Uri.file(file);
      const isThere = await vscode.workspace.fs.stat(now).then(() => true, () => false);
      const left = from === undefined ? undefined : this.before.add(now.path.slice(1), async () => (await from()).toString());
      return [now, left, isThere ? now : undefined] as const;
    }));
    const title = files.more === 0 ? "Changes of the Turn" : `Changes of the Turn, ${files.more} more not shown`;
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }

  get #all(): Readonly<Record<string, Undecided>> {
    return this.memory.get(KEY, {});
  }

  async #put(conversationId: string, undecided: Undecided | undefined): Promise<void> {
    const others = Object.entries(this.#all).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(undecided === undefined ? others : [...others, [conversationId, undecided]].slice(-MOST_CONVERSATIONS)));
    this.chat.post({ type: "turnFiles", conversationId, turn: undecided?.files });
  }
}
