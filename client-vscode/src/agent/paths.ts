import { lstat, realpath } from "node:fs/promises";
import nodePath, { basename, dirname, join, type PlatformPath, resolve, sep } from "node:path";

import { ToolError } from "./errors";
import { isWindows } from "../operating-system";

/** A file or folder of the workspace, which need not exist. */
export interface Place {
  /** Absolute, without symbolic links. */
  path: string;
  /** The workspace folder that it lies in: absolute, without symbolic links. */
  folder: string;
  /** From the workspace folder, with `/`; empty for the folder itself. */
  relative: string;
  /** In front of paths from the workspace folder, by `prefixOf`. */
  prefix: string;
  /** As the model writes it: `prefix` and `relative`. */
  shown: string;
}

/**
 * Finds what `path` names. It is absolute or relative to the first of `folders`; where there are several, the name of
 * a folder may come first. Symbolic links are followed first, those of missing files' parents too.
 * Throws `ToolError` for what lies outside of the folders.
 */
export async function placeOf(folders: readonly string[], path: string): Promise<Place> {
  if (path.includes("\0")) throw new ToolError("A path has no NUL character.");
  if (isWindows() && unsafeOnWindows(path)) throw new ToolError(`${path} is no plain path: Windows takes it for another file or a device.`);
  if (folders.length === 0) throw new ToolError("No folder is open, so there are no files to work on.");
  const given = candidate(folders, path);
  const real = await realPathOf(given);
  for (const each of folders) {
    const folder = await realPathOf(each);
    const slashed = relativeWithin(folder, real);
    if (slashed === undefined) continue;
    const prefix = prefixOf(folders, each);
    return { path: real, folder, relative: slashed, prefix, shown: `${prefix}${slashed}` || "." };
  }
  throw new ToolError(`${path} is outside of the workspace. Paths are relative to the workspace folder and stay inside it.`);
}

/** What is in front of paths from one of `folders`: of several with one name the first has the name, the others their paths. */
export function prefixOf(folders: readonly string[], folder: string): string {
  if (folders.length === 1) return "";
  const named = folders.find((other) => isSamePath(basename(other), basename(folder)));
  return `${named === folder ? basename(folder) : folder.split(sep).join("/")}/`;
}

/** The absolute path of what a model writes. On Windows one that begins with a slash lies on the first folder's drive. */
export function candidate(folders: readonly string[], path: string, on: PlatformPath = nodePath): string {
  const [first = ""] = folders;
  const [head = "", ...rest] = path.split(/[\\/]/);
  const named = folders.length > 1 && !on.isAbsolute(path) ? folders.find((folder) => isSamePath(on.basename(folder), head, on)) : undefined;
  return named === undefined ? on.resolve(first, path) : on.resolve(named, ...rest);
}

/** The path without symbolic links; of what does not exist, the nearest parent that does is resolved. Throws `ToolError`. */
export async function realPathOf(path: string): Promise<string> {
  const missing: string[] = [];
  let existing = resolve(path);
  for (;;) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ELOOP") throw new ToolError(`${path} is a circle of symbolic links.`);
      const parent = dirname(existing);
      if ((code !== "ENOENT" && code !== "ENOTDIR") || parent === existing) throw new ToolError(`${path} cannot be opened.`);
      await refuseDanglingLink(existing, path);
      missing.unshift(basename(existing));
      existing = parent;
    }
  }
}

/** A link whose target does not exist would be created wherever it points to. */
async function refuseDanglingLink(existing: string, path: string): Promise<void> {
  const state = await lstat(existing).catch(() => undefined);
  if (state?.isSymbolicLink()) throw new ToolError(`${path} is a symbolic link to something that does not exist.`);
}

/** Whether two paths name the same file as far as they tell: Windows has one case, and VS Code writes drives in lower case. */
export function isSamePath(one: string, other: string, on: PlatformPath = nodePath): boolean {
  return on.relative(one, other) === "";
}

/** A path from the folder that it lies in, with `/`; undefined for one that lies elsewhere. */
export function relativeWithin(folder: string, path: string, on: PlatformPath = nodePath): string | undefined {
  const within = on.relative(folder, path);
  return within === ".." || within.startsWith(`..${on.sep}`) || on.isAbsolute(within) ? undefined : within.split(on.sep).join("/");
}

/** Names of devices on Windows, which it also takes for these with an ending, or spaces before one. */
const DEVICE = /^(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[\d¹²³]) *(?:\..*)?$/i;

/**
 * Whether Windows takes a path for something else than its words say: a stream of a file, a device, a place on a drive
 * that depends on the process, or a name whose last dots and spaces it drops.
 */
export function unsafeOnWindows(path: string): boolean {
  if (/^[\\/]{2}[.?]/.test(path)) return true;
  const names = path.replace(/^[A-Za-z]:(?=[\\/])/, "").split(/[\\/]/);
  return names.some((name) => name.includes(":") || DEVICE.test(name) || (/[. ]$/.test(name) && !/^\.{1,2}$/.test(name)));
}
