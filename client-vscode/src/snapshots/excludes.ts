/** What Git excludes in a folder besides the `.gitignore` files in it. */
import { textOfFile } from "../agent/text-file";
import { relativeWithin } from "../agent/paths";
import { ignoreFilesAbove } from "../ignoring/files";
import { IgnoreRules, isExcluded } from "../ignoring/rules";
import { GitError } from "./git";

/**
 * The patterns of the ignore files that hold in a folder from outside, as patterns of the folder. Later ones rank above
 * earlier ones. Throws `GitError` where one cannot be read or is over the limit: what it excludes must not be stored.
 */
export async function excludesAbove(folder: string): Promise<string> {
  const { own, above } = await ignoreFilesAbove(folder).catch(() => { throw new GitError("Git's settings around the folder cannot be read."); });
  const patterns: string[] = [];
  for (const each of [...own, ...above]) {
    const text = await textOfFile(each.file).catch(() => undefined);
    if (text === undefined || (text !== null && IgnoreRules.of(text) === undefined)) throw new GitError(`The ignore file ${each.file} cannot be read, or is too long.`);
    const within = (relativeWithin(each.folder, folder) ?? "").split("/").filter((name) => name !== "");
    // Which of several of the user's own files holds is not known: none takes back what another excludes.
    const mayTakeBack = own.length === 1 || !own.includes(each);
    patterns.push(...translated(text ?? "", within).filter((line) => mayTakeBack || !line.startsWith("!")));
  }
  return [...patterns, ""].join("\n");
}

/** Patterns of a folder as those of the folder that is `within` it. */
function translated(rules: string, within: readonly string[]): string[] {
  return rules.split(/\r?\n/).flatMap((line) => {
    if (line.startsWith("#") || line.trim() === "") return [];
    const sign = line.startsWith("!") ? "!" : "";
    const pattern = line.slice(sign.length);
    const parts = pattern.replace(/^\//, "").split("/");
    const isAnchored = pattern.replace(/\/\s*$/, "").includes("/");
    if (!isAnchored || within.length === 0 || parts[0] === "**") return [line];
    for (const [at, name] of within.entries()) {
      if (parts[at] === "**") return [`${sign}${parts.slice(at).join("/")}`];
      if (parts[at] === undefined || !isExcluded(name, [{ folder: "", rules: IgnoreRules.of(`/${parts[at]}`) }])) return [];
    }
    const rest = parts.slice(within.length).join("/");
    return rest === "" ? [] : [`${sign}/${rest}`];
  });
}
