/** Commands that read and change nothing, and show no more than a model may read without a question. */
import { delimiter, isAbsolute, resolve } from "node:path";

import { type Place, placeOf, relativeWithin } from "../agent/paths";
import { sensitivityOf } from "../agent/sensitive";
import { plainWords } from "./words";

/** What may follow the first words of a command. */
interface Form {
  /** A word that begins with `-`. */
  option: RegExp;
  /** Other words: names of files or revisions. Without any `cat` would wait for input. */
  names: "none" | "some" | "any";
  /** Without such an option it would show contents, which may be a secret's. */
  needs?: RegExp;
}

/**
 * Reviewed one by one: no option here writes a file, runs a program or waits. Those of Git run what the repository's own
 * configuration names as filters, as VS Code does when it opens the folder. Versions of programs are not among them: a
 * checkout can choose which program `cargo` or `node` is.
 */
const COMMANDS: Readonly<Record<string, Form>> = {
  "pwd": { option: /^$/, names: "none" },
  "ls": { option: /^-[1AaFhlRrSt]+$/, names: "any" },
  "cat": { option: /^-n$/, names: "some" },
  "head": { option: /^-(?:[cn]|\d{1,6})$/, names: "some" },
  "tail": { option: /^-(?:[cn]|\d{1,6})$/, names: "some" },
  "wc": { option: /^-[clmw]+$/, names: "some" },
  "git branch": { option: /^(?:-a|-r|-v|-vv|--list|--show-current)$/, names: "none" },
  "git diff": { option: /^--(?:stat|shortstat|numstat|name-only|name-status|cached|staged)?$/, names: "any", needs: /^--(?:stat|shortstat|numstat|name-only|name-status)$/ },
  "git log": { option: /^(?:--(?:oneline|graph|decorate|all|stat|shortstat|name-only|name-status|merges|no-merges|reverse)?|-n|-n?\d{1,6})$/, names: "any" },
  "git status": { option: /^(?:-s|-b|-sb|--(?:short|branch|porcelain)?)$/, names: "any" },
};

/**
 * Whether a command line is such a command in `place`, on files of the workspace that need no question. Not on Windows,
 * where `cmd` takes a program of the checkout before any other, nor where the PATH leads into the workspace.
 */
export async function isReadOnly(command: string, place: Place, folders: readonly string[], path = process.env["PATH"] ?? "", platform = process.platform): Promise<boolean> {
  const words = platform === "win32" ? undefined : plainWords(command, false);
  if (words === undefined || leadsInto(path, folders)) return false;
  const isGit = words[0] === "git";
  const begin = words.slice(0, isGit ? 2 : 1);
  const key = begin.join(" ");
  const form = Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : undefined;
  // Git looks for its repository in the folders above, too; that of a folder within is nobody's that was trusted.
  if (form === undefined || (isGit && place.relative !== "")) return false;
  const options = words.slice(begin.length).filter((word) => word.startsWith("-"));
  const names = words.slice(begin.length).filter((word) => !word.startsWith("-"));
  if (!options.every((option) => form.option.test(option)) || (form.needs !== undefined && !options.some((option) => form.needs?.test(option)))) return false;
  if (form.names === "none" ? names.length > 0 : form.names === "some" && names.length === 0) return false;
  for (const name of names) {
    if (!(await needsNoQuestion(resolve(place.path, name), folders))) return false;
  }
  return true;
}

async function needsNoQuestion(path: string, folders: readonly string[]): Promise<boolean> {
  const place = await placeOf(folders, path).catch(() => undefined);
  return place !== undefined && (await sensitivityOf(place, false)) === undefined;
}

/** Whether a folder of the PATH is one that a checkout fills. */
function leadsInto(path: string, folders: readonly string[]): boolean {
  return path.split(delimiter).some((place) => !isAbsolute(place) || folders.some((folder) => relativeWithin(folder, place) !== undefined));
}
