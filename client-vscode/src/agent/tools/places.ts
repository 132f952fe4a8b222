import { join } from "node:path";

import { ToolError } from "../errors";
import { asked, type FileRules } from "../file-rules";
import { type Place, placeOf } from "../paths";
import { type Sensitivity, sensitivityOf, WARNINGS } from "../sensitive";
import type { Call } from "../tool";

/** A place that may be read. `allowed` is the reason for which a person is asked before, if there is one. */
export interface ReadablePlace extends Place {
  allowed: Sensitivity | undefined;
}

/** The place that a path names, and whether it may be read without a question. */
export async function judgedPlace(folders: readonly string[], path: string): Promise<ReadablePlace> {
  const place = await placeOf(folders, path);
  return { ...place, allowed: await sensitivityOf(place, false) };
}

/** The place that a path names, once a person has allowed it where it is secret or ignored, or a rule asks. `verb` begins the question. */
export async function readablePlace(path: string, tool: string, verb: string, call: Call): Promise<ReadablePlace> {
  const place = await judgedPlace(call.host.folders, path);
  const ruled = asked(call.fileRules.at(place.path));
  if (place.allowed === undefined && ruled.length === 0) return place;
  const details = [...ruled, ...(place.allowed === undefined ? [] : [{ kind: "note" as const, text: WARNINGS[place.allowed] }])];
  await call.approve({ tool, title: `${verb} ${place.shown}`, details, scope: null });
  if ((await placeOf(call.host.folders, place.path)).path !== place.path) throw new ToolError(`${place.shown} is another file now.`);
  return place;
}

/**
 * Whether the files below `place` may be shown, by their names from the workspace folder: those that need no question,
 * and those with the same reason for one as `place`, which a person has allowed.
 */
export function readableBelow({ path, folder, allowed }: ReadablePlace, folders: readonly string[], rules: FileRules): (name: string) => Promise<boolean> {
  const own = rules.at(path)?.rule;
  const decided = new Map<string, boolean>();
  return async (name) => {
    const decision = decided.get(name);
    if (decision !== undefined) return decision;
    const file = await placeOf(folders, join(folder, name)).catch(() => undefined);
    const sensitivity = file === undefined ? "secret" : await sensitivityOf(file, false);
    const rule = file && rules.at(file.path)?.rule;
    const isReadable = (sensitivity === undefined || (file !== undefined && sensitivity === allowed)) && (rule === undefined || rule === own);
    decided.set(name, isReadable);
    return isReadable;
  };
}
