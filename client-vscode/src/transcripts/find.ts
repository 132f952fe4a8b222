import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

import { headOf } from "./head";

/** Files whose beginning is read, the newest first. A guess: months of sessions. */
const MOST_FILES = 500;
const MOST_FOUND = 100;

/** A session of another agent, in this workspace. */
export interface Transcript {
  agent: "Claude Code" | "Codex" | "Pi";
  path: string;
  title: string;
  /** Milliseconds of the epoch. */
  modified: number;
}

/** Where agents keep their sessions: `home` is the user's folder, `variables` the environment. */
export interface Places {
  home: string;
  variables: Readonly<Record<string, string | undefined>>;
}

/** The sessions of other agents that worked in one of `folders`, the newest first. Links and what cannot be read are passed over. */
export async function findTranscripts(folders: readonly string[], places: Places): Promise<Transcript[]> {
  const names = new Set(folders);
  for (const folder of folders) names.add(await realpath(folder).catch(() => folder));
  const files = await candidates([...names], places);
  const found: Transcript[] = [];
  for (const { agent, path, modified } of files) {
    if (found.length === MOST_FOUND) break;
    const head = await headOf(path).catch(() => undefined);
    if (head !== undefined && names.has(head.cwd)) found.push({ agent, path, title: head.title, modified });
  }
  return found;
}

type Candidate = Omit<Transcript, "title">;

async function candidates(folders: readonly string[], { home, variables }: Places): Promise<Candidate[]> {
  const claude = join(variables["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude"), "projects");
  const pi = join(variables["PI_CODING_AGENT_DIR"] ?? join(home, ".pi", "agent"), "sessions");
  const codex = join(variables["CODEX_HOME"] ?? join(home, ".codex"), "sessions");
  const found = [
    ...(await recentDays(codex, MOST_FILES)).map((path) => ({ agent: "Codex" as const, path })),
    ...(await Promise.all(folders.flatMap((folder) => [
      filesIn(join(claude, folder.replace(/[^a-zA-Z0-9]/g, "-"))).then((paths) => paths.map((path) => ({ agent: "Claude Code" as const, path }))),
      filesIn(join(pi, `--${folder.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`)).then((paths) => paths.map((path) => ({ agent: "Pi" as const, path }))),
    ]))).flat(),
  ];
  const timed = await Promise.all(found.map(async (each) => ({ ...each, modified: await stat(each.path).then(({ mtimeMs }) => mtimeMs, () => 0) })));
  return timed.sort((one, other) => other.modified - one.modified).slice(0, MOST_FILES);
}

/** The files below folders of years, months and days, from the last day on, until there are `most`. */
async function recentDays(folder: string, most: number, depth = 3): Promise<string[]> {
  if (depth === 0) return filesIn(folder);
  const found: string[] = [];
  const names = (await entries(folder)).filter((entry) => entry.isDirectory() && /^\d+$/.test(entry.name)).map(({ name }) => name);
  for (const name of names.sort().reverse()) {
    if (found.length >= most) break;
    found.push(...(await recentDays(join(folder, name), most - found.length, depth - 1)));
  }
  return found;
}

async function filesIn(folder: string): Promise<string[]> {
  return (await entries(folder)).filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl")).map(({ name }) => join(folder, name));
}

function entries(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
