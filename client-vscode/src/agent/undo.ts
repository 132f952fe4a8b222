/** Taking back an edit that a conversation holds, which may come from anywhere. */
import { visibleLine } from "../format";
import { takenBack } from "./change";
import { ToolError } from "./errors";
import type { FileChange } from "./file-change";
import type { MadeEdits } from "./made";
import { placeOf } from "./paths";
import { sensitivityOf, WARNINGS } from "./sensitive";

const NOT_OURS = "The conversation was imported, or the edit was made elsewhere: what is written is what the conversation says. Open Changes shows it.";

export interface UndoHost {
  readonly folders: readonly string[];
  readonly made: MadeEdits;
  read(path: string): Promise<string | null>;
  write(path: string, text: string): Promise<unknown>;
  remove(path: string): Promise<void>;
  /** Asks a person; undefined where they refuse. */
  confirm(message: string, detail: string, action: string): PromiseLike<string | undefined>;
}

/** Takes back an edit, and asks a person before where our tools have not made it here. False where they refuse. */
export async function undo(change: FileChange, host: UndoHost): Promise<boolean> {
  const { path } = await placeOf(host.folders, change.path);
  const now = await host.read(path);
  const before = takenBack(change, now);
  if (before === undefined) throw new ToolError(`${change.path} has changed since, so this edit cannot be undone by itself.`);
  if (!host.made.has(change)) {
    const file = await described(change.path, before.content, host.folders);
    if ((await host.confirm("Undo an edit that was not made here?", `${file}\n\n${NOT_OURS}`, "Undo")) === undefined) return false;
    if ((await placeOf(host.folders, path)).path !== path || (await host.read(path)) !== now) throw new ToolError(`${change.path} has changed while you were asked, so nothing was undone.`);
  }
  await (before.content === null ? host.remove(path) : host.write(path, before.content));
  return true;
}

/** What would be written, by where the path leads; with a warning that a person should know of. */
async function described(path: string, text: string | null, folders: readonly string[]): Promise<string> {
  const place = await placeOf(folders, path);
  const sensitivity = await sensitivityOf(place, true);
  const line = `${visibleLine(place.shown)}${text === null ? " (deleted)" : ""}`;
  return sensitivity === undefined ? line : `${line}: ${WARNINGS[sensitivity]}`;
}
