/** Which ignore files hold for a folder, and what is in them. */
import { lstat, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { relativeWithin } from "../agent/paths";
import { textOfFile } from "../agent/text-file";
import { IgnoreRules, isExcluded, LONGEST_FILE, LONGEST_TOGETHER, type PlacedRules } from "./rules";

/** Characters of the files that are remembered: those of eight paths with the longest rules. */
const REMEMBERED = 8 * LONGEST_TOGETHER;

/** By path. `state` changes with the file. */
const remembered = new Map<string, { state: string; rules: IgnoreRules }>();

/** The repository that a folder lies in; undefined where it lies in none. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await lstat(join(at, ".git")).catch(() => undefined)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** An ignore file and the folder that its patterns are about. */
export interface IgnoreFile {
  file: string;
  folder: string;
}

/**
 * The ignore files that hold in a folder besides those in it, weakest first: the user's own, that of the repository that
 * the folder lies in, and those of the folders above it in that repository.
 */
export async function ignoreFilesAbove(folder: string): Promise<IgnoreFile[]> {
  const root = (await repositoryOf(folder)) ?? folder;
  const settings = process.env["XDG_CONFIG_HOME"];
  const own = join(settings === undefined || settings === "" ? join(homedir(), ".config") : settings, "git", "ignore");
  const above: string[] = [];
  for (let at = folder; at !== root; ) above.unshift((at = dirname(at)));
  return [
    { file: own, folder: root },
    { file: join(root, ".git", "info", "exclude"), folder: root },
    ...above.map((each) => ({ file: join(each, ".gitignore"), folder: each })),
  ];
}

/** Whether Git excludes a file or folder below `folder`, or its rules cannot be read. `relative` has `/`. */
export async function isIgnored(folder: string, relative: string): Promise<boolean> {
  const parts = relative.split("/");
  const within = parts.map((_, depth) => join(folder, ...parts.slice(0, depth)));
  const files = [...(await ignoreFilesAbove(folder)), ...within.map((each) => ({ file: join(each, ".gitignore"), folder: each }))];
  const root = files[0]?.folder ?? folder;
  const all: PlacedRules[] = [];
  for (const each of files) {
    const rules = await rulesOf(each.file);
    if (rules !== null) all.push({ folder: relativeWithin(root, each.folder) ?? "", rules });
  }
  const below = relativeWithin(root, folder) ?? "";
  const isFolder = (await stat(join(folder, relative)).catch(() => undefined))?.isDirectory() ?? false;
  return isExcluded(below === "" ? relative : `${below}/${relative}`, all, { isFolder, below });
}

/** Null where there is no file, undefined where it cannot be read or is over the limit. Parsed once in each of its states. */
async function rulesOf(file: string): Promise<IgnoreRules | null | undefined> {
  const there = await stat(file).catch((error: unknown) => (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? null : undefined));
  if (!there) return there;
  const { ino, size, mtimeMs, ctimeMs } = there;
  const state = [ino, size, mtimeMs, ctimeMs].join();
  const before = remembered.get(file);
  if (before?.state === state) return before.rules;
  remembered.delete(file);
  if (size > LONGEST_FILE) return undefined;
  const text = await textOfFile(file).catch(() => undefined);
  const rules = typeof text === "string" ? IgnoreRules.of(text) : text;
  if (rules) remember(file, state, rules);
  return rules;
}

function remember(file: string, state: string, rules: IgnoreRules): void {
  remembered.set(file, { state, rules });
  let length = [...remembered.values()].reduce((sum, each) => sum + each.rules.length, 0);
  for (const [oldest, each] of remembered) {
    if (length <= REMEMBERED) break;
    length -= each.rules.length;
    remembered.delete(oldest);
  }
}
