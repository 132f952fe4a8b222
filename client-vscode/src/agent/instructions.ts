import { join } from "node:path";

import { placeOf } from "./paths";
import { INSTRUCTION_FILES, type Instructions } from "./prompt";
import { sensitivityOf } from "./sensitive";

/** The instructions for agents in a workspace folder, from the first file that has some. `read` is that of the host. */
export async function instructionsIn(
  folders: readonly string[],
  folder: string,
  read: (path: string) => Promise<string | null>,
): Promise<Instructions | undefined> {
  for (const name of INSTRUCTION_FILES) {
    try {
      // A link out of the workspace is no file of the checkout.
      const place = await placeOf(folders, join(folder, name));
      // Nobody is asked here: a link leads only to what needs no question. The file itself may be ignored by Git.
      if (place.path !== join(place.folder, name) && (await sensitivityOf(place, false)) !== undefined) continue;
      const text = await read(place.path);
      if (text !== null && text.trim() !== "") return { path: `${place.prefix}${name}`, text };
    } catch {
      // What cannot be read gives no instructions.
    }
  }
  return undefined;
}
