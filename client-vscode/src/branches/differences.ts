/** What the branches of a conversation changed in the files, and how they differ. */
import * as vscode from "vscode";

import type { BranchFiles } from "../chat/branch-files";
import type { BranchStates } from "../chat/branch-states";
import { isChange } from "../chat/file-changes";
import type { CoppiceClient } from "../client";
import type { StateDocuments } from "../documents/states";
import { counted, oneLine, visible } from "../format";
import { notify } from "../notify";
import type { PlacedDifference, PlacedStep, WorkspaceSnapshots } from "../snapshots/workspace";
import type { BranchRow } from "./rows";

const NOT_RECORDED = "The files of this branch were not recorded. They are with each message where Git is installed and the workspace is trusted.";
/** Names in a notification: as many as it shows. */
const MOST_NAMED = 5;
/** Characters of a branch in a title. */
const NAME_LENGTH = 40;

/** Reads the recorded states of branches, each named by the entry that it begins with. */
export class BranchDifferences {
  /** What was counted last of a branch, and between which states. */
  readonly #counted = new Map<string, { between: string; text: string | undefined }>();

  constructor(
    private readonly client: CoppiceClient,
    private readonly states: BranchStates,
    private readonly snapshots: WorkspaceSnapshots,
    private readonly documents: StateDocuments,
    private readonly branchFiles: BranchFiles,
  ) {}

  /** `2 files +10 −3`: what a branch changed since it began. Undefined where that was not recorded, or nothing was changed. */
  async summary(conversationId: string, entryId: string): Promise<string | undefined> {
    const states = await this.#beginAndEnd(conversationId, entryId);
    if (states === undefined) return undefined;
    const key = `${conversationId}/${entryId}`;
    const between = states.join("/");
    const counted = this.#counted.get(key);
    if (counted?.between === between) return counted.text;
    const text = summed(await this.snapshots.differences(...states));
    this.#counted.set(key, { between, text });
    return text;
  }

  /** Shows what a branch changed since it began, file by file. */
  async show(conversationId: string, row: BranchRow): Promise<void> {
    const states = await this.#beginAndEnd(conversationId, row.id);
    const differences = states && (await this.snapshots.differences(...states));
    if (differences === undefined) void notify.info(NOT_RECORDED);
    else if (differences.length === 0) void notify.info("This branch changed no file.");
    else await this.documents.show(`Changes of ${nameOf(row)}`, differences);
  }

  /** Shows how the files and the last reply of a branch differ from those of another one, by default of the current one. */
  async compare(conversationId: string, row: BranchRow, other?: BranchRow): Promise<void> {
    const [end, otherEnd] = await Promise.all([this.#end(conversationId, row.id), other && this.#end(conversationId, other.id)]);
    const [from, to] = await Promise.all([this.states.at(conversationId, otherEnd), this.states.at(conversationId, end)]);
    if (from.state === undefined || to.state === undefined) {
      void notify.info(NOT_RECORDED);
      return;
    }
    const differences = await this.snapshots.differences(from.state, to.state);
    const replies = [from.leafId, to.leafId].map((leafId) => this.documents.lastReply(conversationId, leafId));
    await this.documents.show(`${other === undefined ? "Current branch" : nameOf(other)} ↔ ${nameOf(row)}`, differences, replies);
  }

  /** Asks which files are to be as a branch left them, and makes them so. What the user changed in them since stays. */
  async take(conversationId: string, row: BranchRow): Promise<void> {
    await this.branchFiles.takeOver(conversationId, await this.#end(conversationId, row.id), (steps) => choose(steps, nameOf(row)));
  }

  async #beginAndEnd(conversationId: string, entryId: string): Promise<[from: string, to: string] | undefined> {
    const end = await this.#end(conversationId, entryId);
    const [from, to] = await Promise.all([this.states.at(conversationId, entryId), this.states.at(conversationId, end)]);
    return from.state === undefined || to.state === undefined ? undefined : [from.state, to.state];
  }

  async #end(conversationId: string, entryId: string): Promise<string> {
    return (await this.client.request("coppice/branchEnd", { conversationId, entryId })).leafId;
  }
}

async function choose(steps: readonly PlacedStep[], name: string): Promise<readonly PlacedStep[]> {
  const conflicts = steps.filter((step) => !isChange(step)).map(({ shown }) => visible(shown));
  const named = `${conflicts.slice(0, MOST_NAMED).join(", ")}${conflicts.length > MOST_NAMED ? ` and ${conflicts.length - MOST_NAMED} more` : ""}`;
  const stay = conflicts.length === 0 ? "" : `${named} ${conflicts.length === 1 ? "stays" : "stay"} as you have it: what you changed cannot be merged.`;
  const items = steps.filter(isChange).map((step) => ({
    label: visible(step.shown),
    description: described(step),
    ...step.isControl ? { detail: "Can make programs run, or instructs agents." } : {},
    step,
  }));
  if (items.length === 0) {
    void (stay === "" ? notify.info("The files are the same on both branches.") : notify.warn(stay));
    return [];
  }
  if (stay !== "") void notify.warn(stay);
  const picked = await vscode.window.showQuickPick(items, { title: `Take Files Over from ${name}`, placeHolder: "Which files are to be as on that branch? Your own changes since the last turn stay.", canPickMany: true });
  return (picked ?? []).map(({ step }) => step);
}

function described({ fate, added, removed }: PlacedStep): string {
  if (fate === "deleted") return "is deleted";
  return [lines(added, removed), fate === "merged" ? "merged with your changes" : ""].filter((part) => part !== "").join(", ");
}

function summed(differences: readonly PlacedDifference[]): string | undefined {
  if (differences.length === 0) return undefined;
  const total = (which: "added" | "removed"): number => differences.reduce((sum, each) => sum + (each[which] ?? 0), 0);
  return [counted(differences.length, "file"), lines(total("added"), total("removed"))].filter((part) => part !== "").join(" ");
}

function lines(added = 0, removed = 0): string {
  return [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter((part) => part !== "").join(" ");
}

function nameOf({ label, preview, type }: BranchRow): string {
  return oneLine(label ?? preview, NAME_LENGTH) || type;
}
