/** What the lines of `.gitignore` files exclude. A checkout has written them: each path takes time linear in its length. */
import { type CharacterSet, parsePattern, type Wildcard } from "./pattern";
import { filesHaveOneCase } from "../operating-system";

/** Characters of one file. Eight times the longest template of github/gitignore; the server has the same limit. */
export const LONGEST_FILE = 64 * 1024;
/** Characters of all files that hold for a path: matching takes time in proportion. Four of the longest files. */
export const LONGEST_TOGETHER = 4 * LONGEST_FILE;
/** Characters. No name of a file is longer than 255; the server has the same limit. */
const LONGEST_PATTERN = 300;
/** Characters whose positions are remembered, in 8 KB at most each: as many as ASCII has. */
const REMEMBERED = 128;

/** What a position of a pattern is; `endless` are those that any character leaves as they are, `/` too. */
const KINDS = ["start", "end", "folderEnd", "takingBack", "any", "star", "folders", "endless"] as const;
type Kind = (typeof KINDS)[number];

const WILDCARDS: Record<Wildcard, readonly Kind[]> = { "?": ["any"], "*": ["star"], "**/": ["folders", "endless"], "/**": ["any", "endless"] };

/**
 * All patterns of one file at once: a bit for each position of each pattern. A bit that is set means that its position
 * is the next to match; one character of a path moves all of them by one shift (the Shift-And algorithm of Baeza-Yates
 * and Gonnet, with the wildcards of Navarro and Raffinot), as in the server.
 */
export class IgnoreRules {
  readonly #literals = new Map<string, number[]>();
  readonly #sets: [number, CharacterSet][] = [];
  readonly #matching = new Map<string, bigint>();
  readonly #are: Record<Kind, bigint>;
  readonly #size: number;

  /** `ignoresCase`: as Git does where file systems do. Undefined for what is over a limit. */
  static of(text: string, ignoresCase = filesHaveOneCase()): IgnoreRules | undefined {
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
    if (text.length > LONGEST_FILE || lines.some((line) => line.length > LONGEST_PATTERN && !line.startsWith("#"))) return undefined;
    return new IgnoreRules(lines, text.length, ignoresCase);
  }

  /** `length`: characters of the file. */
  private constructor(lines: readonly string[], readonly length: number, private readonly ignoresCase: boolean) {
    const positions = new Map(KINDS.map((kind) => [kind, [] as number[]]));
    let at = 0;
    const note = (kind: Kind): void => { positions.get(kind)?.push(at); };
    for (const line of lines) {
      const pattern = parsePattern(line);
      if (pattern === undefined) continue;
      note("start");
      for (const token of pattern.tokens) {
        if (typeof token === "string") for (const kind of WILDCARDS[token]) note(kind);
        else if ("ranges" in token) this.#sets.push([at, token]);
        else this.#positionsOf(token.char).push(at);
        at += 1;
      }
      note(pattern.foldersOnly ? "folderEnd" : "end");
      if (pattern.takesBack) note("takingBack");
      at += 1;
    }
    this.#size = at;
    this.#are = Object.fromEntries(KINDS.map((kind) => [kind, this.#bits(positions.get(kind) ?? [])])) as Record<Kind, bigint>;
  }

  /** For each leading part of `path` that a pattern matches: its length, and whether it is excluded. */
  verdicts(path: string, isFolder: boolean): [number, boolean][] {
    const verdicts: [number, boolean][] = [];
    const { star, endless, end, folderEnd, takingBack } = this.#are;
    const judge = (length: number, ends: bigint): void => {
      const matched = state & ends;
      const takenBack = matched & takingBack;
      // The last pattern decides: it has the highest bit.
      if (matched !== 0n) verdicts.push([length, (matched ^ takenBack) > takenBack]);
    };
    let state = this.#atName(this.#are.start);
    let length = 0;
    for (const char of path) {
      if (char === "/") {
        judge(length, end | folderEnd);
        state = this.#atName(((state & this.#matches(char)) << 1n) | (state & endless));
      } else {
        state = ((state & this.#matches(char)) << 1n) | (state & (endless | star));
        state |= (state & star) << 1n;
      }
      length += char.length;
    }
    judge(length, isFolder ? end | folderEnd : end);
    return verdicts;
  }

  /** At the beginning of a name `**\/` may also be no folder, and `*` no character. */
  #atName(state: bigint): bigint {
    const within = state | ((state & this.#are.folders) << 1n);
    return within | ((within & this.#are.star) << 1n);
  }

  /** The positions that match a character. */
  #matches(char: string): bigint {
    const remembered = this.#matching.get(char);
    if (remembered !== undefined) return remembered;
    const positions = [...(this.#literals.get(this.#folded(char)) ?? [])];
    if (char !== "/") {
      const readings = this.ignoresCase ? [char.toLowerCase(), char.toUpperCase()] : [char];
      for (const [at, set] of this.#sets) if (holds(set, readings)) positions.push(at);
    }
    const matching = this.#bits(positions) | (char === "/" ? 0n : this.#are.any);
    if (this.#matching.size >= REMEMBERED) this.#matching.clear();
    this.#matching.set(char, matching);
    return matching;
  }

  #positionsOf(char: string): number[] {
    const positions = this.#literals.get(this.#folded(char)) ?? [];
    this.#literals.set(this.#folded(char), positions);
    return positions;
  }

  #folded(char: string): string {
    return this.ignoresCase ? char.toLowerCase() : char;
  }

  /** A number with a one at each position. */
  #bits(positions: readonly number[]): bigint {
    const octets = new Uint8Array((this.#size >> 3) + 1);
    for (const at of positions) octets[at >> 3] = (octets[at >> 3] ?? 0) | (1 << (at & 7));
    return BigInt(`0x${Buffer.from(octets.reverse()).toString("hex")}`);
  }
}

function holds({ ranges, negated }: CharacterSet, readings: readonly string[]): boolean {
  const points = readings.map((each) => each.codePointAt(0) ?? 0);
  return ranges.some(([low, high]) => points.some((each) => low <= each && each <= high)) !== negated;
}

/** The rules of an ignore file in a folder, which is empty for the outermost; undefined where they cannot be read. */
export interface PlacedRules {
  folder: string;
  rules: IgnoreRules | undefined;
}

/**
 * Whether the rules, weakest first, exclude `path` or a folder that it lies in, which no rule of that folder takes back.
 * Those that cannot be read, and those over the limit for all of them, exclude everything. `below`: rules about this
 * folder itself, and those that it lies in, do not count.
 */
export function isExcluded(path: string, all: readonly PlacedRules[], { isFolder = false, below = "" } = {}): boolean {
  const verdicts = new Map<number, boolean>();
  let length = 0;
  for (const { folder, rules } of all) {
    if (folder !== "" && !path.startsWith(`${folder}/`)) continue;
    length += rules?.length ?? Infinity;
    if (rules === undefined || length > LONGEST_TOGETHER) return true;
    const skipped = folder === "" ? 0 : folder.length + 1;
    for (const [at, excluded] of rules.verdicts(path.slice(skipped), isFolder)) if (skipped + at > below.length) verdicts.set(skipped + at, excluded);
  }
  return [...verdicts.values()].includes(true);
}
