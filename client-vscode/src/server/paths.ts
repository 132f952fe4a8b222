import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The first executable called `name` in the absolute folders of a PATH. Relative folders are passed over:
 * they would mean whatever lies in the checkout.
 */
export async function findOnPath(
  name: string,
  path: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const endings = platform === "win32" ? [".exe"] : [""];
  for (const folder of (path ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const ending of endings) {
      const file = join(folder, name + ending);
      if (await isExecutable(file)) return file;
    }
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
