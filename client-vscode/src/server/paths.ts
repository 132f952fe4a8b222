import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { posix, win32 } from "node:path";

/**
 * The first executable called `name` in the absolute folders of a PATH. Relative folders are passed over:
 * they would mean whatever lies in the checkout.
 */
export async function findOnPath(name: string, path: string | undefined, platform = process.platform, isProgram = isExecutable): Promise<string | undefined> {
  const on = platform === "win32" ? win32 : posix;
  const ending = platform === "win32" ? ".exe" : "";
  for (const folder of (path ?? "").split(on.delimiter)) {
    if (!on.isAbsolute(folder)) continue;
    const file = on.join(folder, name + ending);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
