import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Step } from "./plan";

const LINK = "120000";
const EXECUTABLE = "100755";

/** What stands in the way of a step: a file that no snapshot has, or a link in place of a folder. */
export async function isBlocked(folder: string, { path, isThere }: Step): Promise<boolean> {
  const parts = path.split("/");
  for (let at = 1; at < parts.length; at += 1) {
    const state = await stateOf(join(folder, ...parts.slice(0, at)));
    if (state === undefined) return false;
    if (!state.isDirectory()) return true;
  }
  const state = await stateOf(join(folder, path));
  return state !== undefined && (!isThere || state.isDirectory());
}

/** Takes a step, each file at once: one that is interrupted leaves it as it was. Links are replaced, never followed. */
export async function takeStep(folder: string, { path, fate, content }: Step): Promise<void> {
  const file = join(folder, path);
  if (fate === "conflict") return;
  if (content === undefined) {
    await rm(file, { force: true });
    await removeEmpty(folder, dirname(path));
    return;
  }
  const bytes = await content.bytes();
  await mkdir(dirname(file), { recursive: true });
  const beside = join(dirname(file), `.coppice-${randomUUID()}`);
  try {
    if (content.mode === LINK) await symlink(bytes.toString(), beside);
    else await writeNew(beside, bytes, await stateOf(file), content.mode === EXECUTABLE);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
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
