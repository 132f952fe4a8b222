/** What the user's rules about files say of a call, by where paths lead when it is asked: those of the rules, too. */
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import type { ApprovalDetail } from "../approvals/approval";
import { describe, FILES, isBelow, refusalBy, type Rule } from "../permissions/rule";
import { couldName, plainWords, possibleWords } from "../permissions/words";
import { folded } from "../snapshots/case";
import { DeniedError } from "./errors";
import { realPathOf } from "./paths";

/** Parts of the paths of a command or of a tool's arguments that are looked up on the disk; what has more is asked about. */
const MOST_PARTS = 1000;

/** The rule that holds. `isHidden`: whether its file is named cannot be told, and a person has to look. */
export interface Ruled {
  rule: Rule;
  isHidden: boolean;
}

/** Characters; Linux has none of more bytes. */
const LONGEST_PATH = 4096;

interface RuledPath {
  rule: Rule;
  /** Comparable, and without links. */
  path: string;
}

type Hit = RuledPath & Ruled;

export class FileRules {
  private constructor(private readonly rules: readonly RuledPath[]) {}

  static async of(rules: readonly Rule[], folders: readonly string[]): Promise<FileRules> {
    const about = rules.filter(({ tool, effect }) => tool === FILES && effect !== "allow");
    return new FileRules(await Promise.all(about.flatMap((rule) => pathsOf(rule, folders).map(async (path) => ({ rule, path: comparable(await ledTo(path)) })))));
  }

  /** The rule about what is at an absolute path without links. */
  at(path: string): Ruled | undefined {
    return strictest(this.#about(path));
  }

  /** The rule about a file that a command line names, or about the folder in which it runs. */
  async inCommand(line: string, folder: string, stop: AbortSignal): Promise<Ruled | undefined> {
    return strictest(await this.#ofCommand(line, folder, stop));
  }

  /** The rule about a file that the arguments of another extension's tool name, or a command line among them. */
  async inArguments(given: Record<string, unknown>, folders: readonly string[], stop: AbortSignal): Promise<Ruled | undefined> {
    const { command } = given;
    const inCommands = typeof command === "string" ? await Promise.all(folders.map((folder) => this.#ofCommand(command, folder, stop))) : [];
    return strictest([...inCommands.flat(), ...await this.#named(textsIn(given), folders, stop)]);
  }

  async #ofCommand(line: string, folder: string, stop: AbortSignal): Promise<Hit[]> {
    if (this.rules.length === 0) return [];
    const named = await this.#named([folder, ...plainWords(line) ?? [], ...possibleWords(line).flat()], [folder], stop);
    return [...named, ...hidden(this.rules.filter(({ rule, path }) => [path, rule.path ?? ""].some((each) => couldName(line, basename(each)))))];
  }

  /** `words` are paths from one of `folders`, or have one in them. Throws when it is stopped. */
  async #named(words: readonly string[], folders: readonly string[], stop: AbortSignal): Promise<Hit[]> {
    if (this.rules.length === 0) return [];
    const names = [...new Set(words.flatMap(pathsInWord))];
    const about: Hit[] = [];
    let [room, isWhole] = [MOST_PARTS, true];
    for (const name of names) {
      const parts = name.split(/[\\/]/).length;
      if (parts > room) {
        isWhole = false;
        continue;
      }
      room -= parts;
      for (const folder of folders) {
        stop.throwIfAborted();
        about.push(...this.#about(await ledTo(isAbsolute(name) ? name : `${folder}${sep}${name}`)));
      }
    }
    return isWhole ? about : [...about, ...hidden(this.rules)];
  }

  #about(path: string): Hit[] {
    const given = comparable(path);
    return this.rules.filter((each) => isBelow(each.path, given)).map((each) => ({ ...each, isHidden: false }));
  }
}

function hidden(rules: readonly RuledPath[]): Hit[] {
  return rules.map((each) => ({ ...each, isHidden: true }));
}

/** One that refuses wins over one that asks, then what is sure, then the longest path. */
function strictest(hits: readonly Hit[]): Ruled | undefined {
  const strictness = ({ rule, isHidden }: Hit): number => (rule.effect === "deny" ? 2 : 0) + (isHidden ? 0 : 1);
  return hits.toSorted((one, other) => strictness(other) - strictness(one) || other.path.length - one.path.length)[0];
}

/** What a person reads who is asked because of a rule; nothing without one. Throws `DeniedError` where it refuses. */
export function asked(ruled: Ruled | undefined): ApprovalDetail[] {
  if (ruled === undefined) return [];
  const { rule, isHidden } = ruled;
  if (rule.effect === "deny" && !isHidden) throw new DeniedError(refusalBy(rule));
  return [{ kind: "note", text: `A rule ${rule.effect === "deny" ? "denies" : "asks about"} ${describe(rule)}${isHidden ? ", which this could name" : ""}.` }];
}

/** One that is about everything or always is about each of the folders. */
function pathsOf({ path = "", place }: Rule, folders: readonly string[]): string[] {
  return path === "" || place === undefined ? folders.map((folder) => join(folder, path)) : [join(place.folder, place.path)];
}

/** Without links, as the system follows them: it takes `link/..` for the folder above the link's target. */
async function ledTo(path: string): Promise<string> {
  return realpath(path).catch(() => realPathOf(path)).catch(() => resolve(path));
}

function comparable(path: string): string {
  return folded(path.split(sep).join("/"));
}

/** A word, and the paths that may be in it: `--file=a`, `-fa`, `@a`, `HEAD:a`, `~/a`, `file:///a`. */
function pathsInWord(word: string): string[] {
  const option = /^-\w(.+)/.exec(word)?.[1];
  return [word, ...word.split(/[=:@,]/), ...(option === undefined ? [] : [option]), ...addressed(word)].filter((name) => name !== "").map((name) => name.replace(/^~(?=\/|$)/, homedir()));
}

function addressed(word: string): string[] {
  try {
    return word.startsWith("file:") ? [fileURLToPath(word)] : [];
  } catch {
    return [];
  }
}

/** The texts that can be a path or an address; a tool may cut off the blanks around it. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") {
    const path = value.trim();
    return path.length <= LONGEST_PATH && !path.includes("\n") ? [value, path] : [];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
