import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { link, lstat, mkdir, open, readdir, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import { bytesOfFile } from "../agent/text-file";
import { WrittenNames } from "./case";
import { blobId } from "./git";
import type { Step } from "./plan";
import type { StoredFile } from "./store";

const LINK = "120000";
const EXECUTABLE = "100755";

/** A name in the folder of a file for what it is to be, or was, while it is replaced. */
function besideOf(file: string): string {
  return join(dirname(file), `.coppice-${randomUUID()}`);
}

/** Whether a path has such a name: a crash may have left it. */
export function isBeside(path: string): boolean {
  return /(?:^|\/)\.coppice-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path);
}

/**
 * What stands in the way of a step: a file that no snapshot has, a link in place of a folder, a repository within the
 * folder. `deleted`: files that other steps take away before.
 */
export async function isBlocked(folder: string, { path, there }: Step, deleted: ReadonlySet<string> = new Set()): Promise<boolean> {
  const parts = path.split("/");
  const written = new WrittenNames(folder);
  for (let at = 1; at < parts.length; at += 1) {
    const above = parts.slice(0, at).join("/");
    const state = await stateOf(join(folder, above));
    if (state === undefined) return false;
    if (!state.isDirectory()) return !deleted.has(await written.of(above));
    if ((await stateOf(join(folder, above, ".git"))) !== undefined) return true;
  }
  const state = await stateOf(join(folder, path));
  if (state === undefined) return false;
  if (state.isDirectory()) return !(await isEmptied(folder, await written.of(path), deleted));
  return there === undefined && !deleted.has(await written.of(path));
}

/** Whether nothing is left of a folder without what other steps take away. */
async function isEmptied(folder: string, relative: string, deleted: ReadonlySet<string>): Promise<boolean> {
  const entries = await readdir(join(folder, relative), { withFileTypes: true });
  if (entries.length === 0) return false;
  for (const entry of entries) {
    const path = `${relative}/${entry.name}`;
    if (entry.isDirectory() ? !(await isEmptied(folder, path, deleted)) : !deleted.has(path)) return false;
  }
  return true;
}

/**
 * Takes a step, each file at once: one that is interrupted leaves it as it was. Links are replaced, never followed.
 * False where the file is not what the step was planned for any more, which then stays. `keep` gets what goes before it
 * goes.
 */
export async function takeStep(folder: string, step: Step, keep: (bytes: Uint8Array) => Promise<void>): Promise<boolean> {
  const { path, fate, content, there } = step;
  const file = join(folder, path);
  if (fate === "conflict") return false;
  if (content === undefined) {
    if (!(await isThere(file, there, keep)) || (await isBlocked(folder, step)) || !(await takeAway(file, there))) return false;
    await removeEmpty(folder, dirname(path));
    return true;
  }
  const bytes = await content.bytes();
  if (await isBlocked(folder, step)) return false;
  await mkdir(dirname(file), { recursive: true });
  const beside = besideOf(file);
  try {
    if (content.mode === LINK) await symlink(bytes, beside);
    else await writeNew(beside, bytes, await stateOf(file), content.mode === EXECUTABLE);
    return (await isThere(file, there, keep)) && (await put(beside, file, there));
  } finally {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

/** Gives what is in `beside` the name of a file. False where something else was saved there meanwhile, which stays. */
async function put(beside: string, file: string, there: StoredFile | undefined): Promise<boolean> {
  if (there === undefined) {
    if (await linked(beside, file)) return true;
    if ((await stateOf(file)) !== undefined) return false;
  }
  const old = besideOf(file);
  const isHeld = there !== undefined && (await linked(file, old));
  try {
    await rename(beside, file);
  } catch (error) {
    await rm(old, { force: true }).catch(() => undefined);
    throw error;
  }
  const isPlanned = !isHeld || (await isThere(old, there));
  if (!isPlanned) await rename(old, file);
  else if (isHeld) await rm(old).catch(() => undefined);
  return isPlanned;
}

/** Gives a file a second name, which nothing has. False also for links, which some systems follow, and where the disk has no such names. */
async function linked(file: string, other: string): Promise<boolean> {
  return (await stateOf(file))?.isFile() === true && link(file, other).then(() => true, () => false);
}

/** Deletes a file by way of another name: one that was saved until then, or cannot be deleted, is put back. */
async function takeAway(file: string, there: StoredFile | undefined): Promise<boolean> {
  const beside = besideOf(file);
  let isGone = false;
  await rename(file, beside);
  try {
    isGone = (await isThere(beside, there)) && (await rm(beside).then(() => true));
  } finally {
    if (!isGone) await putBack(beside, file);
  }
  return isGone;
}

async function putBack(beside: string, file: string): Promise<void> {
  if ((await stateOf(file)) !== undefined) throw new Error(`It was saved twice meanwhile: what it had first is in ${beside}.`);
  await rename(beside, file);
}

/** Whether a path has the content that a snapshot has of it, which `keep` gets then, or nothing where it has none. */
async function isThere(file: string, stored: StoredFile | undefined, keep?: (bytes: Uint8Array) => Promise<void>): Promise<boolean> {
  const state = await stateOf(file);
  if (state === undefined || stored === undefined) return state === stored;
  if (state.isSymbolicLink() !== (stored.mode === LINK)) return false;
  const bytes = state.isSymbolicLink() ? await readlink(file, { encoding: "buffer" }) : await bytesOfFile(file).catch(() => null);
  if (bytes === null || blobId(bytes) !== stored.id) return false;
  await keep?.(bytes);
  return true;
}

/** Who may read and write a file stays as it is, in `like`; a snapshot has only whether it can be run. */
async function writeNew(file: string, bytes: Buffer, like: Stats | undefined, isExecutable: boolean): Promise<void> {
  const handle = await open(file, "wx", like?.isFile() === true ? 0o600 : 0o666);
  try {
    await handle.writeFile(bytes);
    const mode = (like?.isFile() === true ? like : await handle.stat()).mode & 0o777;
    await handle.chmod(isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
  } finally {
    await handle.close();
  }
}

/** A snapshot has no folders: one whose last file goes, goes as well. */
async function removeEmpty(folder: string, relative: string): Promise<void> {
  for (let at = relative; at !== "." && at !== "/"; at = dirname(at)) {
    try {
      await rmdir(join(folder, at));
    } catch {
      return;
    }
  }
}

function stateOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}
