/** The grammar of one line of a `.gitignore` file. */

/** What matches more than one character or any character. None but the last two match `/`. */
export type Wildcard = "?" | "*" | "**/" | "/**";

/** `[a-z]` as pairs of the code points of its first and last characters; `[!a-z]` if `negated`. It never matches `/`. */
export interface CharacterSet {
  ranges: (readonly [number, number])[];
  negated: boolean;
}

export type Token = Wildcard | CharacterSet | { char: string };

/** `tokens` match a whole path; `takesBack` is a leading `!`, `foldersOnly` a trailing `/`. */
export interface IgnorePattern {
  tokens: Token[];
  takesBack: boolean;
  foldersOnly: boolean;
}

/** Git's named classes, which hold ASCII only. */
const CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ["alnum", ["09", "AZ", "az"]],
  ["alpha", ["AZ", "az"]],
  ["blank", ["  ", "\t\t"]],
  ["cntrl", ["\0\u001f", "\u007f\u007f"]],
  ["digit", ["09"]],
  ["graph", ["!~"]],
  ["lower", ["az"]],
  ["print", [" ~"]],
  ["punct", ["!/", ":@", "[`", "{~"]],
  ["space", ["\t\r", "  "]],
  ["upper", ["AZ"]],
  ["xdigit", ["09", "AF", "af"]],
]);

/** The pattern of a line; undefined for a blank line, a comment, and what Git takes for no valid pattern. */
export function parsePattern(line: string): IgnorePattern | undefined {
  const text = withoutTrailingBlanks(line);
  if (text.startsWith("#")) return undefined;
  const [takesBack, foldersOnly] = [text.startsWith("!"), text.endsWith("/")];
  const pattern = text.replace(/^!/, "").replace(/\/$/, "");
  const tokens = tokensOf(Array.from(pattern.replace(/^\//, "")));
  if (tokens === undefined) return undefined;
  const names = split(tokens);
  if (names.some((name) => name.length === 0)) return undefined;
  const isAnchored = pattern.startsWith("/") || names.length > 1;
  return { tokens: isAnchored ? joined(names) : ["**/", ...singleStars(tokens)], takesBack, foldersOnly };
}

/** The line without the blanks at its end, but for one that follows a backslash. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end -= 1;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === "\\") backslashes += 1;
  return line.slice(0, end + (backslashes % 2));
}

/** A place in a pattern. */
interface Cursor {
  readonly chars: readonly string[];
  at: number;
}

/** Undefined where a bracket is not closed, and for a backslash at the end. */
function tokensOf(chars: readonly string[]): Token[] | undefined {
  const tokens: Token[] = [];
  for (const cursor: Cursor = { chars, at: 0 }; cursor.at < chars.length; ) {
    const token = nextToken(cursor);
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}

function nextToken(cursor: Cursor): Token | undefined {
  const char = cursor.chars[cursor.at];
  if (char === "*" || char === "?" || char === "[") cursor.at += 1;
  if (char === "*" || char === "?") return char;
  if (char === "[") return bracket(cursor);
  const literal = member(cursor);
  return literal === undefined ? undefined : { char: literal };
}

/** The set whose first member is next. */
function bracket(cursor: Cursor): CharacterSet | undefined {
  const { chars } = cursor;
  const negated = chars[cursor.at] === "!" || chars[cursor.at] === "^";
  if (negated) cursor.at += 1;
  const ranges: [number, number][] = [];
  for (const first = cursor.at; cursor.at === first || chars[cursor.at] !== "]"; ) {
    const end = chars[cursor.at] === "[" && chars[cursor.at + 1] === ":" ? chars.findIndex((char, at) => at > cursor.at + 1 && char === ":" && chars[at + 1] === "]") : -1;
    if (end >= 0) {
      const pairs = CLASSES.get(chars.slice(cursor.at + 2, end).join(""));
      if (pairs === undefined) return undefined;
      ranges.push(...pairs.map(([low = "", high = ""]): [number, number] => [codePoint(low), codePoint(high)]));
      cursor.at = end + 2;
      continue;
    }
    const low = member(cursor);
    const isRange = chars[cursor.at] === "-" && chars[cursor.at + 1] !== "]";
    if (isRange) cursor.at += 1;
    const high = isRange ? member(cursor) : low;
    if (low === undefined || high === undefined) return undefined;
    ranges.push([codePoint(low), codePoint(high)]);
  }
  cursor.at += 1;
  return { ranges, negated };
}

/** The next character, which a backslash may precede. */
function member(cursor: Cursor): string | undefined {
  if (cursor.chars[cursor.at] === "\\") cursor.at += 1;
  return cursor.chars[cursor.at++];
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function split(tokens: readonly Token[]): Token[][] {
  const names: Token[][] = [[]];
  for (const token of tokens) {
    if (isSlash(token)) names.push([]);
    else names.at(-1)?.push(token);
  }
  return names;
}

function isSlash(token: Token): boolean {
  return typeof token === "object" && "char" in token && token.char === "/";
}

/** The tokens of names between slashes; a name of two stars or more is any number of folders. */
function joined(names: readonly Token[][]): Token[] {
  return names.flatMap((name, at): Token[] => {
    const isLast = at === names.length - 1;
    if (!isFolders(name)) return isLast ? singleStars(name) : [...singleStars(name), { char: "/" }];
    if (isLast) return ["/**"];
    return at > 0 && isFolders(names[at - 1] ?? []) ? [] : ["**/"];
  });
}

function isFolders(name: readonly Token[]): boolean {
  return name.length > 1 && name.every((token) => token === "*");
}

function singleStars(name: readonly Token[]): Token[] {
  return name.filter((token, at) => token !== "*" || name[at - 1] !== "*");
}
