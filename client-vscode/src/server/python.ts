import { delimiter, isAbsolute, join, relative } from "node:path";

import { isExecutable } from "./paths";
import { run } from "./processes";

/** The oldest Python that the server runs on. */
export const OLDEST: readonly [number, number] = [3, 11];

const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const ASK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])";

/**
 * The programs that may be a Python, best first: those on the PATH, then `known` ones. What lies in `folders` is left
 * out: a checkout must not choose what is run.
 */
export async function candidates(path: string | undefined, known: string[], folders: string[]): Promise<string[]> {
  const found: string[] = [];
  const ending = process.platform === "win32" ? ".exe" : "";
  for (const folder of (path ?? "").split(delimiter).filter((each) => isAbsolute(each))) {
    for (const name of NAMES) {
      const file = join(folder, name + ending);
      if (await isExecutable(file)) found.push(file);
    }
  }
  const outside = (file: string) => !folders.some((folder) => isInside(file, folder));
  return [...new Set([...found, ...known])].filter(outside);
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

function isInside(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return !path.startsWith("..") && !isAbsolute(path);
}
