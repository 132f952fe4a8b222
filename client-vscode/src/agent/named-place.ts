import { ToolError } from "./errors";
import { candidate, type Place, placeOf, relativeWithin } from "./paths";
import { sensitivityOf, WARNINGS } from "./sensitive";

/**
 * The place of a file that goes into a message because it is named, by a person or as instructions: nobody is asked then.
 * So a link leads only to what needs no question, or the same one as its own name. Throws `ToolError` for others.
 */
export async function namedPlace(folders: readonly string[], path: string): Promise<Place> {
  const place = await placeOf(folders, path);
  const sensitivity = await sensitivityOf(place, false);
  if (sensitivity === undefined) return place;
  const written = candidate(folders, path);
  for (const folder of folders) {
    const relative = relativeWithin(folder, written);
    if (relative === undefined) continue;
    if (relative === place.relative || (await sensitivityOf({ ...place, path: written, relative }, false)) === sensitivity) return place;
  }
  throw new ToolError(`${path} is a link to ${place.shown}, which has to be named itself. ${WARNINGS[sensitivity]}`);
}
