import * as v from "valibot";

import { diffDetail } from "../../approvals/diff";
import { fileChangeOf, patchOf } from "../change";
import { withEdits } from "../edits";
import { ToolError } from "../errors";
import { newErrors } from "../file-errors";
import { asked } from "../file-rules";
import { BoundedOutput, mostOutput } from "../output";
import { type Place, placeOf } from "../paths";
import { sensitivityOf, WARNINGS } from "../sensitive";
import { type Call, described, type Output, path, text, tool } from "../tool";
import { readablePlace } from "./places";

/** *Allow for This Conversation* covers further edits by both tools. */
export const EDITS = "edit_file";

const editSchema = v.object({
  path,
  edits: described(
    v.pipe(
      v.array(
        v.object({
          oldText: text("The exact text to replace. It must be in the file exactly once."),
          newText: text("The text that takes its place."),
          replaceAll: v.optional(described(v.boolean(), "Replaces every occurrence of oldText.")),
        }),
      ),
      v.minLength(1),
      v.maxLength(200),
    ),
    "Applied one after the other.",
  ),
});

export const editFile = tool(
  "edit_file",
  "Replaces exact pieces of text in a file of the workspace. Read the file first.",
  editSchema,
  true,
  async ({ path: given, edits }, call) => {
    // Whether an edit fits says what the file holds.
    const place = await readablePlace(given, "edit_file", "Read", call);
    const before = await call.host.read(place.path);
    if (before === null) throw new ToolError(`There is no file ${place.shown}. Use write_file to make it.`);
    return change("edit_file", place, before, withEdits(before, edits), call);
  },
);

const writeSchema = v.object({ path, content: text("The whole content of the file.") });

export const writeFile = tool(
  "write_file",
  "Makes a file of the workspace, or replaces all of its content. For changes in a file use edit_file.",
  writeSchema,
  true,
  async ({ path: given, content }, call) => {
    const place = await placeOf(call.host.folders, given);
    const isRuled = asked(call.fileRules.at(place.path)).length > 0;
    const before = await call.host.read(place.path);
    const isReadable = !isRuled && (await sensitivityOf(place, false)) === undefined;
    if (before === content && isReadable) return { text: `${place.shown} has this content already.` };
    return change("write_file", place, before, content, call);
  },
);

/** Asks, and changes the file if it still is what was asked about. */
async function change(name: string, place: Place, before: string | null, proposed: string, call: Call): Promise<Output> {
  const { host } = call;
  const sensitivity = await sensitivityOf(place, true);
  const notes = [...asked(call.fileRules.at(place.path)), ...(sensitivity === undefined ? [] : [{ kind: "note" as const, text: WARNINGS[sensitivity] }])];
  const { text: changed } = await call.approve({
    tool: name,
    title: `${before === null ? "Create" : "Edit"} ${place.shown}`,
    details: [...notes, { ...diffDetail(place.shown, before ?? undefined, proposed), place: { folder: place.folder, path: place.relative } }],
    scope: notes.length === 0 ? EDITS : null,
    covers: "every edit of files in the workspace that are not sensitive",
  }, { path: place.path, before, after: proposed });
  const after = changed ?? proposed;
  call.stop.throwIfAborted();
  // A person may have thought about it for long: the file, and the folders and links on its way, can be others now.
  const now = await placeOf(host.folders, place.path);
  const isAsBefore = now.path === place.path && (await sensitivityOf(now, true)) === sensitivity;
  if (!isAsBefore || (await host.read(place.path)) !== before) {
    throw new ToolError(`${place.shown} has changed since the edit was proposed, so it was not applied. Read the file again.`);
  }
  const errors = host.watchErrors(place.path);
  const saved = await host.write(place.path, after);
  const remark = saved === after ? "" : " The editor formatted it when it was saved; read it again before the next edit.";
  return {
    text: [`${before === null ? "Created" : "Changed"} ${place.shown}.${remark}`, changed === undefined ? "" : changeOfUser(place, proposed, changed), newErrors(place.shown, errors.before, await errors.after())].filter((line) => line !== "").join("\n"),
    change: fileChangeOf(place.shown, before, saved),
  };
}

/** For the model, which still has its own text. */
function changeOfUser(place: Place, proposed: string, changed: string): string {
  const difference = new BoundedOutput(mostOutput(undefined));
  difference.add(patchOf(place.shown, proposed, changed));
  return `The user changed your edit before it was applied. From your text to what was written:\n${difference.text}`;
}
