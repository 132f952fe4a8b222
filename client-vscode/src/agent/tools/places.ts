import { type Place, placeOf } from "../paths";
import { sensitivityOf, WARNINGS } from "../sensitive";
import type { Call } from "../tool";

/** The place that a path names, once a person has allowed it where it is secret or ignored. */
export async function approvedPlace(path: string, tool: string, call: Call): Promise<Place> {
  const place = await placeOf(call.host.folders, path);
  const sensitivity = await sensitivityOf(place, false);
  if (sensitivity === undefined) return place;
  const details = [{ kind: "note" as const, text: WARNINGS[sensitivity] }];
  await call.approve({ tool, title: `Read ${place.shown}`, details, scope: null });
  return place;
}
