import { join } from "node:path";

import { namedPlace } from "./named-place";
import { INSTRUCTION_FILES, type Instructions } from "./prompt";

/** The instructions for agents in a workspace folder, from the first file that has some. `read` is that of the host. */
export async function instructionsIn(
  folders: readonly string[],
  folder: string,
  read: (path: string) => Promise<string | null>,
): Promise<Instructions | undefined> {
  for (const name of INSTRUCTION_FILES) {
    try {
      // A link out of the workspace is no file of the checkout.
      const place = await namedPlace(folders, join(folder, name));
      const text = await read(place.path);
      if (text !== null && text.trim() !== "") return { path: `${place.prefix}${name}`, text };
    } catch {
      // What cannot be read gives no instructions.
    }
  }
  return undefined;
}
