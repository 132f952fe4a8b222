/** Taking back edits that a conversation holds, which may come from anywhere. */
import { counted, visible } from "../format";
import { takenBack } from "./change";
import type { Checkpoint } from "./checkpoint";
import { ToolError } from "./errors";
import type { FileChange } from "./file-change";
import type { MadeEdits } from "./made";
import { placeOf } from "./paths";
import { sensitivityOf, WARNINGS } from "./sensitive";

const NOT_OURS = "The conversation was imported, or the edit was made elsewhere: what is written is what the conversation says. Open Changes shows it.";
/** Characters of a list of files: a dialog shows 1000 in all. */
const LONGEST_LIST = 700;

export interface UndoHost {
  readonly folders: readonly string[];
  readonly made: MadeEdits;
  read(path: string): Promise<string | null>;
  /** Writes files by their absolute paths; null deletes one. */
  writeAll(files: ReadonlyMap<string, string | null>): Promise<void>;
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
    const list = await fileList(new Map([[change.path, before.content]]), host.folders);
    if ((await host.confirm("Undo an edit that was not made here?", `${list}\n\n${NOT_OURS}`, "Undo")) === undefined) return false;
    if ((await placeOf(host.folders, path)).path !== path || (await host.read(path)) !== now) throw new ToolError(`${change.path} has changed while you were asked, so nothing was undone.`);
  }
  await host.writeAll(new Map([[path, before.content]]));
  return true;
}

/** What a person is asked before edits are taken back as `files` says. */
export async function restoreQuestion(
  { files, conflicts }: Checkpoint,
  changes: readonly FileChange[],
  { folders, made }: Pick<UndoHost, "folders" | "made">,
): Promise<string> {
  const list = await fileList(files, folders, conflicts);
  const origin = changes.every((change) => made.has(change)) ? "" : `\n\n${NOT_OURS}`;
  return `${list}${origin}\n\nWhat commands changed is not restored. The conversation stays as it is.`;
}

/** The files that would be written, by where their paths lead, a line each; first those that a person should know of. */
async function fileList(files: ReadonlyMap<string, string | null>, folders: readonly string[], conflicts: readonly string[] = []): Promise<string> {
  const warned: string[] = [];
  const others: string[] = [];
  for (const [path, text] of files) {
    const place = await placeOf(folders, path);
    const sensitivity = await sensitivityOf(place, true);
    const line = `${inOneLine(place.shown)}${text === null ? " (deleted)" : ""}`;
    if (sensitivity === undefined) others.push(line);
    else warned.push(`${line}: ${WARNINGS[sensitivity]}`);
  }
  const lines = [...warned, ...others, ...conflicts.map((path) => `${inOneLine(path)}: stays, it was changed by others since`)];
  let length = 0;
  const fitting = lines.filter((line, at) => (length += line.length + 1) <= LONGEST_LIST || at === 0);
  const more = lines.length - fitting.length;
  return `${fitting.join("\n")}${more > 0 ? `\nand ${counted(more, "more file")}` : ""}`;
}

function inOneLine(path: string): string {
  return visible(path).replaceAll("\n", "<U+000A>");
}
