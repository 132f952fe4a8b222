import { stat } from "node:fs/promises";

import * as v from "valibot";

import { ToolError } from "../errors";
import { type Call, described, path, text, tool } from "../tool";
import { readableBelow, type ReadablePlace, readablePlace } from "./places";
import { type Hits, ripgrep } from "./ripgrep";

/** Guesses: what a model can still read at once. */
const MOST_HITS = 100;
const MOST_FILES = 400;
const MOST_COLUMNS = 300;
/** Characters of a line with its number. */
const LONGEST_LINE = 400;
const FILES = ["--files", "--sort=path"];

const searchSchema = v.object({
  pattern: text("A regular expression, in the notation of ripgrep."),
  path: v.optional(described(v.string(), "A folder or a file to search in. Default: the whole workspace.")),
  glob: v.optional(described(v.string(), "Only files whose path matches, for example *.py or src/**.")),
  ignoreCase: v.optional(described(v.boolean(), "Whether upper and lower case are the same.")),
  literal: v.optional(described(v.boolean(), "Whether the pattern is plain text.")),
});

export const search = tool(
  "search",
  "Searches the contents of the workspace's files and gives path:line:text. What .gitignore excludes and files with credentials are left out; a path that names them is asked about.",
  searchSchema,
  false,
  async ({ pattern, path: within = ".", glob, ignoreCase, literal }, call) => {
    const place = await readablePlace(within, "search", "Search", call);
    const options = [
      ...["--line-number", "--no-heading", "--with-filename", "--null", `--max-columns=${MOST_COLUMNS}`, "--max-columns-preview", "--max-filesize=5M"],
      ...(ignoreCase === true ? ["--ignore-case"] : []),
      ...(literal === true ? ["--fixed-strings"] : []),
      ...["--regexp", pattern],
    ];
    const { lines, isCut } = await shownLines(place, options, glob, MOST_HITS, call);
    if (lines.length === 0) return { text: "Nothing was found." };
    const note = isCut ? `\n\n[Only the first ${MOST_HITS} matches. Narrow the search with path or glob.]` : "";
    return { text: lines.join("\n") + note };
  },
);

const listSchema = v.object({
  path: v.optional(path),
  glob: v.optional(described(v.string(), "Only files whose path matches, for example *.py or src/**.")),
});

export const listFiles = tool(
  "list_files",
  "Lists the files below a folder of the workspace, with their paths. What .gitignore excludes and files with credentials are left out.",
  listSchema,
  false,
  async ({ path: within = ".", glob }, call) => {
    const place = await readablePlace(within, "list_files", "List", call);
    const status = await stat(place.path).catch(() => undefined);
    if (!status?.isDirectory()) throw new ToolError(`${place.shown} is no folder.`);
    const { lines, isCut } = await shownLines(place, FILES, glob, MOST_FILES, call);
    if (lines.length === 0) return { text: "No files." };
    const note = isCut ? `\n\n[Only the first ${MOST_FILES} files. List a folder, or use a glob.]` : "";
    return { text: lines.join("\n") + note };
  },
);

/** What ripgrep prints of files that may be shown: their names, or with `--null` also the lines that match. */
async function shownLines(place: ReadablePlace, options: readonly string[], glob: string | undefined, most: number, { host, stop, fileRules }: Call): Promise<Hits> {
  const run = { program: await host.ripgrep(), folder: place.folder, path: place.relative || ".", stop };
  // A glob of ripgrep also brings back what a .gitignore excludes.
  const listed = glob === undefined ? undefined : new Set((await ripgrep({ ...run, options: FILES, most: Infinity })).lines);
  const isReadable = readableBelow(place, host.folders, fileRules);
  const accept = async (line: string): Promise<string | undefined> => {
    const [name = "", ...match] = line.split("\0");
    // Without a match it is a message of ripgrep about a file.
    if (options !== FILES && match.length === 0) return undefined;
    if (listed?.has(name) === false || !(await isReadable(name))) return undefined;
    return [place.prefix + name.replace(/^\.[\\/]/, ""), ...match.map(shortened)].join(":");
  };
  return ripgrep({ ...run, options: glob === undefined ? options : [...options, `--glob=${glob}`], most, accept });
}

function shortened(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
}
