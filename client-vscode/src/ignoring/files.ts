/** Which ignore files hold for a folder, and what is in them. The server has the same rules for what it shows a model. */
import { lstat, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { relativeWithin } from "../agent/paths";
import { textOfFile } from "../agent/text-file";
import { gitConfigValues } from "./git-config";
import { ParsedFiles } from "./parsed-files";
import { IgnoreRules, isExcluded, LONGEST_FILE, LONGEST_TOGETHER, type PlacedRules } from "./rules";

/** Characters. Git adds three lines for each branch: those of 10,000 branches. */
const LONGEST_CONFIG = 1_000_000;
/** Configuration files with those they include: a checkout's may include each other. */
const MOST_CONFIGS = 50;
/** A person has one, or one for each of some folders. */
const MOST_OWN_FILES = 20;
/** A branch, or a commit. */
const HEAD = /^(?:ref:\s*refs\/|[0-9a-f]{40})/;
const SYSTEM_CONFIG = "/etc/gitconfig";

/** Those of eight paths with the longest rules. */
const ignoreFiles = new ParsedFiles((text) => IgnoreRules.of(text), LONGEST_FILE, 8 * LONGEST_TOGETHER);
const configs = new ParsedFiles((text) => ({ values: gitConfigValues(text), length: text.length }), LONGEST_CONFIG, 4 * LONGEST_CONFIG);

/** The innermost repository that a folder lies in. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await isCheckout(at)) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Whether Git takes the `.git` of a folder for a repository: a file that names one, or a folder with what each has. */
export async function isCheckout(folder: string): Promise<boolean> {
  const git = join(folder, ".git");
  if (!(await isFolder(git))) return isThere(git);
  const head = join(git, "HEAD");
  const isLink = (await lstat(head).catch(() => undefined))?.isSymbolicLink() ?? false;
  const names = isLink || HEAD.test((await textOfFile(head).catch(() => null)) ?? "");
  return names && (await isFolder(join(git, "objects"))) && isFolder(join(git, "refs"));
}

/** An ignore file and the folder that its patterns are about. */
export interface IgnoreFile {
  file: string;
  folder: string;
}

/** The ignore files that hold in a folder besides those in it, weakest first. */
export interface FilesAbove {
  /** The top of the repository that the folder lies in. */
  root: string;
  /** The user's own, of which any may hold: some are named under conditions. */
  own: IgnoreFile[];
  /** That of the repository, and those of the folders above in it. */
  above: IgnoreFile[];
}

/** Throws where Git's files do not show which they are. */
export async function ignoreFilesAbove(folder: string): Promise<FilesAbove> {
  const root = (await repositoryOf(folder)) ?? folder;
  const above: string[] = [];
  for (let at = folder; at !== root; ) above.unshift((at = dirname(at)));
  const directory = await gitDirectory(root);
  return {
    root,
    own: (await ownFiles(directory, root)).map((file) => ({ file, folder: root })),
    above: [{ file: join(directory, "info", "exclude"), folder: root }, ...above.map((each) => ({ file: join(each, ".gitignore"), folder: each }))],
  };
}

/** The folder of a repository's own files, which its worktrees share. */
async function gitDirectory(root: string): Promise<string> {
  let directory = join(root, ".git");
  if ((await isThere(directory)) && !(await isFolder(directory))) {
    const link = (await textOfFile(directory)) ?? "";
    directory = named(link.replace(/^gitdir:/, "").trim(), root);
  }
  const shared = (await isThere(join(directory, "commondir"))) ? await textOfFile(join(directory, "commondir")) : null;
  return shared === null ? directory : named(shared.trim(), directory);
}

/** Where the user's own ignore file may be: by default, and by each `core.excludesFile`. */
async function ownFiles(directory: string, root: string): Promise<string[]> {
  const settings = process.env["XDG_CONFIG_HOME"];
  const own = join(settings === undefined || settings === "" ? join(homedir(), ".config") : settings, "git");
  const files = new Set([join(own, "ignore")]);
  const read = [process.env["GIT_CONFIG_SYSTEM"] ?? SYSTEM_CONFIG, join(own, "config"), join(homedir(), ".gitconfig"), join(directory, "config")];
  for (const [at, file] of read.entries()) {
    const config = at < MOST_CONFIGS ? await configs.of(file) : undefined;
    if (config === undefined) throw new Error(`${file} cannot be read.`);
    for (const [name, value] of config?.values ?? []) {
      if (name === "core.excludesfile" && value !== "") files.add(named(value, root));
      else if (name === "include.path" || name === "includeif.path") {
        const included = named(value, dirname(file));
        if (!read.includes(included)) read.push(included);
      }
    }
    if (files.size > MOST_OWN_FILES) throw new Error(`${file} names too many ignore files.`);
  }
  return [...files];
}

/** What Git's files name by `path`. Throws for a name of a host, a user or an installation. */
function named(path: string, base: string): string {
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  if (/^(?:~|%\(|\/\/|\\\\)/.test(path)) throw new Error(`${path} names no file here.`);
  return resolve(base, path);
}

/** Whether Git excludes a file or folder below `folder`, or its rules cannot be read. `relative` has `/`. */
export async function isIgnored(folder: string, relative: string): Promise<boolean> {
  const files = await ignoreFilesAbove(folder).catch(() => undefined);
  if (files === undefined) return true;
  const { root, own, above } = files;
  const parts = relative.split("/");
  const within = parts.map((_, depth) => join(folder, ...parts.slice(0, depth)));
  const all = await placed([...above, ...within.map((each) => ({ file: join(each, ".gitignore"), folder: each }))], root);
  const below = relativeWithin(root, folder) ?? "";
  const path = below === "" ? relative : `${below}/${relative}`;
  const is = await isFolder(join(folder, relative));
  for (const each of own) if (isExcluded(path, [...(await placed([each], root)), ...all], { isFolder: is, below })) return true;
  return false;
}

async function placed(files: readonly IgnoreFile[], root: string): Promise<PlacedRules[]> {
  const all: PlacedRules[] = [];
  for (const { file, folder } of files) {
    const rules = await ignoreFiles.of(file);
    if (rules !== null) all.push({ folder: relativeWithin(root, folder) ?? "", rules });
  }
  return all;
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
