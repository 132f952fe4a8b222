import { stat } from "node:fs/promises";

import * as v from "valibot";

import { ToolError } from "../errors";
import { placeOf } from "../paths";
import { SECRET_PATTERNS, sensitivityOf } from "../sensitive";
import { described, path, text, tool } from "../tool";
import { ripgrep } from "./ripgrep";

/** Guesses: what a model can still read at once. */
const MOST_HITS = 100;
const MOST_FILES = 400;
const MOST_COLUMNS = 300;

/** Files that hold secrets are never searched, other ignored ones not either. */
const EXCLUDED = SECRET_PATTERNS.map((pattern) => (pattern.startsWith("!") ? `--iglob=${pattern.slice(1)}` : `--iglob=!${pattern}`)).filter((option) => option.startsWith("--iglob=!"));

const searchSchema = v.object({
  pattern: text("A regular expression, in the notation of ripgrep."),
  path: v.optional(described(v.string(), "A folder or a file to search in. Default: the whole workspace.")),
  glob: v.optional(described(v.string(), "Only files whose path matches, for example *.py or src/**.")),
  ignoreCase: v.optional(described(v.boolean(), "Whether upper and lower case are the same.")),
  literal: v.optional(described(v.boolean(), "Whether the pattern is plain text.")),
});

export const search = tool(
  "search",
  "Searches the contents of the workspace's files and gives path:line:text. What .gitignore excludes and files with credentials are left out.",
  searchSchema,
  false,
  async ({ pattern, path: within = ".", glob, ignoreCase, literal }, { host, stop }) => {
    const place = await placeOf(host.folders, within);
    if ((await sensitivityOf(place, false)) === "secret") throw new ToolError(`${place.shown} may hold credentials, and is not searched.`);
    const options = [
      ...["--no-require-git", "--line-number", "--no-heading", "--with-filename", "--hidden", "--glob=!.git", `--max-columns=${MOST_COLUMNS}`, "--max-columns-preview", "--max-filesize=5M"],
      ...(glob === undefined ? [] : [`--glob=${glob}`]),
      ...EXCLUDED,
      ...(ignoreCase === true ? ["--ignore-case"] : []),
      ...(literal === true ? ["--fixed-strings"] : []),
    ];
    const { lines, isCut } = await ripgrep(host.ripgrep, [...options, "--regexp", pattern, "--", place.relative || "."], place.folder, MOST_HITS, stop);
    if (lines.length === 0) return { text: "Nothing was found." };
    const note = isCut ? `\n\n[Only the first ${MOST_HITS} matches. Narrow the search with path or glob.]` : "";
    return { text: lines.map((line) => place.prefix + plain(line)).join("\n") + note };
  },
);

const listSchema = v.object({
  path: v.optional(path),
  glob: v.optional(described(v.string(), "Only files whose path matches, for example *.py or src/**.")),
});

export const listFiles = tool(
  "list_files",
  "Lists the files below a folder of the workspace, with their paths. What .gitignore excludes is left out.",
  listSchema,
  false,
  async ({ path: within = ".", glob }, { host, stop }) => {
    const place = await placeOf(host.folders, within);
    const found = await stat(place.path).catch(() => undefined);
    if (!found?.isDirectory()) throw new ToolError(`${place.shown} is no folder.`);
    const options = ["--no-require-git", "--files", "--hidden", "--glob=!.git", "--sort=path", ...(glob === undefined ? [] : [`--glob=${glob}`])];
    const { lines, isCut } = await ripgrep(host.ripgrep, [...options, "--", place.relative || "."], place.folder, MOST_FILES, stop);
    if (lines.length === 0) return { text: "No files." };
    const note = isCut ? `\n\n[Only the first ${MOST_FILES} files. List a folder, or use a glob.]` : "";
    return { text: lines.map((line) => place.prefix + plain(line)).join("\n") + note };
  },
);

function plain(line: string): string {
  return line.replace(/^\.[\\/]/, "");
}
