import { isDeepStrictEqual } from "node:util";

import type { Feature } from "../../chat/feature";
import type { FromPage } from "../../chat/messages";
import type { CoppiceClient } from "../../client";
import { counted } from "../../format";
import { notify } from "../../notify";
import type { Entry } from "../../protocol.gen";
import { type Checkpoint, checkpointBefore } from "../checkpoint";
import { ToolError } from "../errors";
import { changeOf, type FileChange } from "../file-change";
import { placeOf } from "../paths";
import type { Verdict } from "../review";
import { restoreQuestion } from "../undo";
import type { EditorHost } from "./host";
import type { EditReview } from "./review";

const PAGE = 1000;

interface Edit {
  toolCallId: string;
  change: FileChange;
}

/** Restores the workspace's files as they were at an earlier message, from the edits that tools made since. */
export class FileRestore implements Feature {
  constructor(
    private readonly client: CoppiceClient,
    private readonly host: EditorHost,
    private readonly review: EditReview,
  ) {}

  greet(): void {
    // The page needs to know nothing.
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type !== "restoreFiles") return false;
    if (conversationId !== undefined) await this.#restore(conversationId, message.entryId);
    return true;
  }

  async #restore(conversationId: string, entryId: string): Promise<void> {
    if (!this.host.isTrusted) throw new ToolError("This workspace is not trusted: nothing in it can be changed.");
    const edits = (await this.#editsAfter(conversationId, entryId)).filter(({ toolCallId }) => this.review.verdictOf(toolCallId) !== "undone");
    if (edits.length === 0) {
      void notify.info("No file was edited by the model after this message.");
      return;
    }
    const changes = edits.map(({ change }) => change);
    const checkpoint = await this.#checkpoint(changes);
    const { files, conflicts } = checkpoint;
    if (files.size === 0) throw new ToolError(`Nothing can be restored: ${conflicts.join(", ")} changed since.`);
    const detail = await restoreQuestion(checkpoint, changes, this.host);
    const chosen = await notify.confirm(`Restore ${counted(files.size, "file")} as before this message's edits?`, detail, "Restore");
    if (chosen === undefined) return;
    const isSame = isDeepStrictEqual(await this.#checkpoint(changes), checkpoint) && (await restoreQuestion(checkpoint, changes, this.host)) === detail;
    if (!isSame) throw new ToolError("Files have changed while you were asked, so nothing was restored.");
    const undone = edits.filter(({ change }) => files.has(change.path));
    const before = await this.#write(files);
    await this.#mark(undone, "undone");
    void this.review.inform(conversationId, `The user restored these files as they were earlier: ${[...files.keys()].join(", ")}.`);
    if ((await notify.info(`Restored ${counted(files.size, "file")}.`, "Undo")) !== "Undo") return;
    await this.#write(before);
    await this.#mark(undone, undefined);
    void this.review.inform(conversationId, `The user took that back: ${[...files.keys()].join(", ")} are as you left them.`);
  }

  #checkpoint(changes: readonly FileChange[]): Promise<Checkpoint> {
    return checkpointBefore(changes, (path) => this.#read(path));
  }

  #mark(edits: readonly Edit[], verdict: Verdict | undefined): Promise<void> {
    return this.review.mark(edits.map(({ toolCallId }) => toolCallId), verdict);
  }

  /** Writes the files, and gives what they held. */
  async #write(files: ReadonlyMap<string, string | null>): Promise<Map<string, string | null>> {
    const before = new Map<string, string | null>();
    const places = new Map<string, string | null>();
    for (const [path, text] of files) {
      before.set(path, await this.#read(path));
      places.set((await placeOf(this.host.folders, path)).path, text);
    }
    await this.host.writeAll(places);
    return before;
  }

  async #read(path: string): Promise<string | null> {
    return this.host.read((await placeOf(this.host.folders, path)).path);
  }

  async #editsAfter(conversationId: string, entryId: string): Promise<Edit[]> {
    const edits: Edit[] = [];
    let after: string | undefined = entryId;
    while (after !== undefined) {
      const page: { entries: Entry[]; nextAfter?: string } = await this.client.request("coppice/entries", { conversationId, after, limit: PAGE });
      edits.push(...page.entries.flatMap(editOf));
      after = page.nextAfter;
    }
    return edits;
  }
}

function editOf(entry: Entry): Edit[] {
  if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
  const change = changeOf(entry.message.details);
  return change === undefined ? [] : [{ toolCallId: entry.message.toolCallId, change }];
}
