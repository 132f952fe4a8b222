/** What Git excludes in a folder besides the `.gitignore` files in it. */
import { lstat, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

import ignore from "ignore";

import { textOfFile } from "../agent/text-file";

/**
 * The patterns of the user's own file, of the repository that the folder lies in, and of the folders above it in that
 * repository, as patterns of the folder. Later ones rank above earlier ones.
 */
export async function excludesAbove(folder: string): Promise<string> {
  const settings = process.env["XDG_CONFIG_HOME"];
  const own = await readFile(join(settings === undefined || settings === "" ? join(homedir(), ".config") : settings, "git", "ignore"), "utf8").catch(() => "");
  const patterns: string[] = [];
  const within: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const rules = at === folder ? "" : await rulesOf(at, ".gitignore");
    patterns.unshift(...translated(rules, within));
    if ((await lstat(join(at, ".git")).catch(() => undefined)) !== undefined) {
      patterns.unshift(...translated(await rulesOf(at, join(".git", "info", "exclude")), within));
      break;
    }
    if (dirname(at) === at) {
      patterns.length = 0; // There is no repository.
      break;
    }
    within.unshift(basename(at));
  }
  return [...own.split(/\r?\n/), ...patterns, ""].join("\n");
}

async function rulesOf(folder: string, name: string): Promise<string> {
  return (await textOfFile(join(folder, name)).catch(() => null)) ?? "";
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
      if (parts[at] === undefined || !ignore().add(`/${parts[at]}`).ignores(name)) return [];
    }
    const rest = parts.slice(within.length).join("/");
    return rest === "" ? [] : [`${sign}/${rest}`];
  });
}

/** Whether a file is excluded by the rules of the folders that it is in, which are given by their relative paths. */
export function isExcluded(path: string, rules: ReadonlyMap<string, string>): boolean {
  const parts = path.split("/");
  let excluded = false;
  for (let depth = 0; depth < parts.length; depth += 1) {
    const own = rules.get(parts.slice(0, depth).join("/"));
    if (own === undefined) continue;
    const { ignored, unignored } = ignore().add(own).test(parts.slice(depth).join("/"));
    excluded = (excluded || ignored) && !unignored;
  }
  return excluded;
}
