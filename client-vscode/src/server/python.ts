import { posix, win32 } from "node:path";

import { relativeWithin } from "../agent/paths";
import { isExecutable } from "./paths";
import { run } from "./processes";

/** The oldest Python that the server runs on. */
export const OLDEST: readonly [number, number] = [3, 11];

const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const NAMES_ON_WINDOWS = ["python.exe", "python3.exe"];
/** The launcher of Python for Windows gives the newest Python 3 that was installed with it. */
const LAUNCHER = "py.exe";
const WHICH = "import sys; print(sys.executable)";
const ASK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])";

/** What is asked of the system. */
export interface System {
  platform: NodeJS.Platform;
  isExecutable(file: string): Promise<boolean>;
  run(file: string, args: string[]): Promise<string>;
}

const THIS: System = { platform: process.platform, isExecutable, run: (file, args) => run(file, args) };

/**
 * The programs that may be a Python, best first: those on the PATH, that of the launcher on Windows, then `reported` ones.
 * What lies in `folders` is left out, also as a launcher: a checkout must not choose what is run.
 */
export async function candidates(path: string | undefined, reported: string[], folders: string[], system: System = THIS): Promise<string[]> {
  const isWindows = system.platform === "win32";
  const on = isWindows ? win32 : posix;
  const outside = (file: string): boolean => folders.every((folder) => relativeWithin(folder, file, on) === undefined);
  const places = (path ?? "").split(on.delimiter).filter((each) => on.isAbsolute(each));
  const named = async (names: string[]): Promise<string[]> => {
    const files: string[] = [];
    for (const file of places.flatMap((folder) => names.map((name) => on.join(folder, name))).filter(outside)) {
      if (await system.isExecutable(file)) files.push(file);
    }
    return files;
  };
  const programs = await named(isWindows ? NAMES_ON_WINDOWS : NAMES);
  const launchers = isWindows ? await named([LAUNCHER]) : [];
  for (const launcher of launchers.slice(0, 1)) {
    const file = (await system.run(launcher, ["-3", "-I", "-c", WHICH]).catch(() => "")).trim();
    if (on.isAbsolute(file)) programs.push(file);
  }
  return [...new Set([...programs, ...reported])].filter(outside);
}

/** The first that is new enough and can make virtual environments. */
export async function usablePython(files: string[]): Promise<string | undefined> {
  for (const file of files) {
    // -I: nothing of the folder or of PYTHON* variables is loaded.
    const version = await run(file, ["-I", "-c", ASK]).catch(() => "");
    if (isNewEnough(version)) return file;
  }
  return undefined;
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.trim().split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
