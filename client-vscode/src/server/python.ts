import { isOutside, programsOnPath, type System, THIS_SYSTEM } from "../programs";
import { run } from "./processes";

/** The oldest Python that the server runs on. */
export const OLDEST: readonly [number, number] = [3, 11];

const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const NAMES_ON_WINDOWS = ["python", "python3"];
/** The launcher of Python for Windows gives the newest Python 3 that was installed with it. */
const LAUNCHER = "py";
const WHICH = "import sys; print(sys.executable)";
const ASK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])";

/** What is asked of the system. */
interface RunningSystem extends System {
  run(file: string, args: string[]): Promise<string>;
}

const THIS: RunningSystem = { ...THIS_SYSTEM, run: (file, args) => run(file, args) };

/**
 * The programs that may be a Python, best first: those on the PATH, that of the launcher on Windows, then `reported` ones.
 * What leads into `folders` is left out, also as a launcher.
 */
export async function candidates(path: string | undefined, reported: string[], folders: string[], system = THIS): Promise<string[]> {
  const isWindows = system.platform === "win32";
  const programs = await programsOnPath(isWindows ? NAMES_ON_WINDOWS : NAMES, path, folders, system);
  const [launcher] = isWindows ? await programsOnPath([LAUNCHER], path, folders, system) : [];
  const launched = launcher === undefined ? "" : await system.run(launcher, ["-3", "-I", "-c", WHICH]).catch(() => "");
  const others: string[] = [];
  for (const file of [launched.trim(), ...reported]) if (await isOutside(file, folders, system)) others.push(file);
  return [...new Set([...programs, ...others])];
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
