/** What Git excludes in a folder besides the `.gitignore` files in it. */
import { textOfFile } from "../agent/text-file";
import { relativeWithin } from "../agent/paths";
import { ignoreFilesAbove } from "../ignoring/files";
import { IgnoreRules, isExcluded, LONGEST_FILE } from "../ignoring/rules";

/**
 * The patterns of the ignore files that hold in a folder from outside, as patterns of the folder. Later ones rank above
 * earlier ones. What cannot be read or is over the limit has none.
 */
export async function excludesAbove(folder: string): Promise<string> {
  const patterns: string[] = [];
  for (const each of await ignoreFilesAbove(folder)) {
    const rules = (await textOfFile(each.file).catch(() => null)) ?? "";
    const within = (relativeWithin(each.folder, folder) ?? "").split("/").filter((name) => name !== "");
    if (rules.length <= LONGEST_FILE) patterns.push(...translated(rules, within));
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
