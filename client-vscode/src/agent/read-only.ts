/** Runs of commands that only read: what a line names is judged and opened here, and the program is given no name. */
import { type FileHandle, lstat, opendir } from "node:fs/promises";
import { join, resolve } from "node:path";

import { readingOf } from "../permissions/read-only";
import { findOnPath } from "../programs";
import { ToolError } from "./errors";
import type { FileRules } from "./file-rules";
import { type Place, placeOf } from "./paths";
import type { Program } from "./process";
import { contentOf, decoded, openFile } from "./text-file";
import { judgedPlace, readableBelow, type ReadablePlace } from "./tools/places";
import { isWindows } from "../operating-system";

/** The programs are those of the system, whose options were reviewed. */
const SYSTEM_PATH = "/usr/bin:/bin";
const ENVIRONMENT = { PATH: SYSTEM_PATH, LC_ALL: "C.UTF-8" };
/** Names that are judged before a folder is listed: as many as `list_files` shows. */
const MOST_NAMES = 400;

/** A program with the folder that it starts in, and the open file that it reads, until that is disposed of. */
export interface ReadOnlyRun extends AsyncDisposable {
  program: Program;
  cwd: string;
}

/**
 * The run of a command line that shows nothing but what `read_file` and `list_files` show without a question. Undefined
 * for every other line, on Windows, and when it is stopped.
 */
export async function readOnlyRun(line: string, folder: Place, folders: readonly string[], rules: FileRules, stop: AbortSignal): Promise<ReadOnlyRun | undefined> {
  const reading = isWindows() ? undefined : readingOf(line);
  if (reading === undefined) return undefined;
  const file = await findOnPath(reading.program, SYSTEM_PATH, folders);
  if (file === undefined) return undefined;
  const { reads, options: args, operand = "." } = reading;
  const run = (cwd: string, input?: FileHandle): ReadOnlyRun => ({
    program: { file, args, environment: ENVIRONMENT, input: input?.fd },
    cwd,
    [Symbol.asyncDispose]: async () => input?.close(),
  });
  if (reads === "nothing") return run(folder.path);
  try {
    const path = resolve(folder.path, operand);
    const place = await judgedPlace(folders, path);
    if (place.allowed !== undefined || rules.at(place.path) !== undefined) return undefined;
    if (reads === "file") return run(folder.path, await openJudged(place, folders));
    // Of a link, `ls -l` shows the link.
    return place.path === path && (await isShownWhole(place, folders, rules, args.some((option) => /[aA]/.test(option)), stop)) ? run(path) : undefined;
  } catch {
    // What cannot be judged or opened is not read without a question.
    return undefined;
  }
}

/** Opens the file that was judged. Throws `ToolError` where another one is there now, or it is none to be read at once. */
async function openJudged({ path, shown }: Place, folders: readonly string[]): Promise<FileHandle> {
  const file = await openFile(path);
  if (file === null) throw new ToolError(`There is no file ${shown}.`);
  try {
    const [opened, there, now] = [await file.stat({ bigint: true }), await lstat(path, { bigint: true }), await placeOf(folders, path)];
    if (now.path !== path || opened.ino !== there.ino || opened.dev !== there.dev) throw new ToolError(`${shown} is another file now.`);
    decoded(await contentOf(file)); // the file was not judged by what is in it
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Whether `list_files` would show every name in a folder; those that begin with a dot count `withHidden`. */
async function isShownWhole(place: ReadablePlace, folders: readonly string[], rules: FileRules, withHidden: boolean, stop: AbortSignal): Promise<boolean> {
  const isReadable = readableBelow(place, folders, rules);
  let count = 0;
  for await (const { name } of await opendir(place.path)) {
    if (stop.aborted) return false;
    if (name.startsWith(".") && !withHidden) continue;
    count += 1;
    // A line break in a name would make it pass for two.
    if (count > MOST_NAMES || name.includes("\n") || !(await isReadable(join(place.relative, name)))) return false;
  }
  return true;
}
