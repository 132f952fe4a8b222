/** Where the programs are that the extension starts. A checkout must not choose what is run. */
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

import { relativeWithin } from "./agent/paths";
import { repositoryOf } from "./ignoring/files";
import { platform } from "./operating-system";

/** What is asked of the system. */
export interface System {
  platform: NodeJS.Platform;
  isExecutable(file: string): Promise<boolean>;
  /** The path without symbolic links. Throws where there is no file. */
  realpath(file: string): Promise<string>;
  /** The repository that a folder lies in, unless it holds the user's home: undefined. */
  checkoutOf(folder: string): Promise<string | undefined>;
}

export const THIS_SYSTEM: System = { platform: platform(), isExecutable, realpath: (file) => realpath(file), checkoutOf };

/** The executables of a PATH with these names, by its folders and then by the names; only those that `isOutside`. */
export async function programsOnPath(names: readonly string[], path: string | undefined, folders: readonly string[], system = THIS_SYSTEM): Promise<string[]> {
  const on = system.platform === "win32" ? win32 : posix;
  const ending = system.platform === "win32" ? ".exe" : "";
  const places = (path ?? "").split(on.delimiter).filter((each) => on.isAbsolute(each));
  const programs: string[] = [];
  for (const file of places.flatMap((place) => names.map((name) => on.join(place, name + ending)))) {
    if ((await system.isExecutable(file)) && (await isOutside(file, folders, system))) programs.push(file);
  }
  return programs;
}

/** The first of them. On Windows a name alone would be looked for in the working folder before the PATH. */
export async function findOnPath(name: string, path: string | undefined, folders: readonly string[], system = THIS_SYSTEM): Promise<string | undefined> {
  return (await programsOnPath([name], path, folders, system))[0];
}

/**
 * Whether a path is absolute and lies in none of the workspace's folders nor of the repositories that hold them, neither
 * as written nor by where its links lead.
 */
export async function isOutside(file: string, folders: readonly string[], system = THIS_SYSTEM): Promise<boolean> {
  const on = system.platform === "win32" ? win32 : posix;
  if (!on.isAbsolute(file)) return false;
  const readings = async (path: string): Promise<string[]> => [path, await system.realpath(path).catch(() => path)];
  const [files, opened] = await Promise.all([readings(file), Promise.all(folders.map(readings))]);
  const checkouts = (await Promise.all(opened.flat().map((folder) => system.checkoutOf(folder)))).flatMap((each) => each ?? []);
  return [...opened.flat(), ...checkouts].every((folder) => files.every((each) => relativeWithin(folder, each, on) === undefined));
}

async function checkoutOf(folder: string): Promise<string | undefined> {
  const root = await repositoryOf(folder);
  // Of files in the home that a user keeps in a repository, the programs are the user's own.
  const homes = [homedir(), await realpath(homedir()).catch(() => homedir())];
  return root !== undefined && homes.every((home) => relativeWithin(root, home) === undefined) ? root : undefined;
}

/** A program of Windows itself, by the environment of the editor. */
export function windowsProgram(name: string, environment: NodeJS.ProcessEnv): string {
  return win32.join(environment["SystemRoot"] ?? "C:\\Windows", "System32", name);
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
