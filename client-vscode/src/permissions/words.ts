import { isWindows } from "../operating-system";

/** A character that no shell takes for anything but itself, wherever it stands in a word. */
const PLAIN = /^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+:,./=-]*$/;
/** In quotes: nothing that ends them, expands or escapes. Longer than any command that is read before it is allowed. */
const QUOTED = /^(?:'[^'\\\p{C}]*'|"[^"\\$`!%\p{C}]*")$/u;
const PARTS = /'[^']*'|"[^"]*"|[^\s'"]+|[\s]+|['"]/g;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const LONGEST = 4000;

/**
 * The words of a command line that is one simple command: no operator, substitution, redirection, expansion, pattern,
 * assignment or comment. Undefined for every other line, also for one that a shell would read in the same way.
 * To `cmd`, which knows neither kind of quotes as others do, quoted words are not plain.
 */
export function plainWords(line: string, windows = isWindows()): string[] | undefined {
  if (line.length > LONGEST || /[^ -~\p{L}\p{N}]/u.test(line)) return undefined;
  const words: string[] = [];
  let isOpen = false;
  for (const [part] of line.matchAll(PARTS)) {
    if (/^ +$/.test(part)) {
      isOpen = false;
      continue;
    }
    const quoted = QUOTED.test(part);
    // A word is plain or quoted, and never a mixture.
    if (isOpen || !(quoted ? !windows : PLAIN.test(part))) return undefined;
    isOpen = true;
    words.push(quoted ? part.slice(1, -1) : part);
  }
  const [program] = words;
  return program === undefined || program === "" || ASSIGNMENT.test(program) ? undefined : words;
}

/**
 * What could be the words of commands in a line, with quotes and backslashes as ends of words, as nothing, and three times
 * as a shell reads them: what is quoted, escaped or after `=` belongs to one word, and what it would expand is left in
 * place. Of these three the first has backticks as ends of words, the others have them as `$(…)`, and the last has `$` for
 * words that come from the input of a program, which may be `program` alone where that is given. For rules that refuse.
 */
export function possibleWords(line: string, program?: string): string[][] {
  const joined = line.replaceAll(/\\\r?\n/g, "");
  const substituted = unquoted(withSubstitutions(joined));
  return [
    ...[joined, joined.replaceAll(/["'\\^]/g, "")].map((each) => each.split(/[\s;|&()<>`$"'{}\\=]+/)),
    ...[unquoted(joined), substituted, withInput(substituted, program)].map((each) => each.split(/[\s;|&()<>`]+/)),
  ].map((words) => words.filter((word) => word !== ""));
}

function unquoted(line: string): string {
  return line.replaceAll(/\\([^])|'([^']*)'|"((?:[^"\\]|\\[^])*)"/g, (_, escaped?: string, single?: string, double?: string) =>
    double === undefined ? (escaped ?? single ?? "").replaceAll(/[^\p{L}\p{N}]/gu, "_") : double.replaceAll(/[^\p{L}\p{N}$/]/gu, "_"),
  );
}

/** In double quotes are backticks, but no single quotes. */
const BACKTICKS = /\\[^]|`([^`\\]*(?:\\[^][^`\\]*)*)`/g;
const BACKTICKS_AND_QUOTES = /\\[^]|`([^`\\]*(?:\\[^][^`\\]*)*)`|'[^']*'|"(?:[^"\\`]|\\[^]|`[^`\\]*(?:\\[^][^`\\]*)*`)*"/g;

/** A line with `$(…)` for its backticks, also those in others, where a backslash stands before them. */
function withSubstitutions(line: string, pattern = BACKTICKS_AND_QUOTES): string {
  return line.replaceAll(pattern, (part: string, code?: string) => {
    if (code !== undefined) return `$(${withSubstitutions(code.replaceAll(/\\([\\`$])/g, "$1"))})`;
    return part.startsWith("\"") ? withSubstitutions(part, BACKTICKS) : part;
  });
}

/** Commands of programs that add words of their input to another command, at its end or for `{}`. `find` adds paths. */
const RUN_WITH_INPUT = /(?<![^\s;|&()<>`/])(?:parallel|xargs)(?![^\s<>])[^;|&()`\n]*/g;

function withInput(line: string, program?: string): string {
  return line.replaceAll(RUN_WITH_INPUT, (command) => {
    const programs = programsIn(command.replace(/^\w+/, "xargs").replaceAll(/[<>]+/g, " $& ")).map(programName);
    if (program !== undefined && !programs.includes(programName(program))) return command;
    const replaced = /\s-I\s*(\S+)/.exec(command)?.[1] ?? "{}";
    // Braces that were quoted are underscores.
    const open = command.replaceAll(replaced, "$").replaceAll(/\{[^{},\s]*\}|__+/g, "$");
    // The words of the command end before a redirection and before the input of GNU Parallel.
    return `${open.replaceAll(/(?:\s\d+)?[<>]|\s:::/g, " $$$&")} $`;
  });
}

/** Programs that run code which is given to them in quotes. */
const INTERPRETERS = [
  ...["ash", "bash", "cmd", "csh", "dash", "eval", "fish", "ksh", "powershell", "pwsh", "sh", "ssh", "su", "tcsh", "trap", "watch"],
  "zsh",
];
/** Words before which a command begins: those of a shell, and programs that run the one that follows their options. */
const BEFORE = new Set([
  ...["!", "{", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while"],
  ...["builtin", "command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "timeout", "xargs", ...INTERPRETERS],
]);
/** Where commands end, and what `find` runs begins. */
const SEPARATORS = /[;|&()\n]+|(?<!\S)(?:\}|-(?:exec|ok)(?:dir)?)(?!\S)/;
/** A variable, a substitution or a pattern; not `{}`, `[` and `[[`, which stay what they are. */
const EXPANDED = /[$`*?]|\{(?!\})|(?<!\{)\}|\[(?!\[?$)/;
const REDIRECTION = /^\d*[<>]+/;
/** What is escaped or quoted, and what leaves open how the rest is read: other quotes, comments and here-documents. */
const QUOTING = /\\([^$])|'((?:[^']*[^'\\])?)'|"([^"\\`]*)"|['"`]|\$'|<<|(?<![^\s;|&()<>])#/g;
const UNCERTAIN = "\0";

/**
 * Whether a line that is not one simple command, or has code in quotes, could run a command with these words: all of
 * them occur in it somewhere, or all but the program, where the line leaves open which that is.
 */
export function couldHide(line: string, words: readonly string[]): boolean {
  const joined = line.replaceAll(/\\\r?\n/g, "");
  const bare = joined.replaceAll(/["'\\^]/g, "");
  const isSplit = splitsQuoted(bare);
  if (!isSplit && plainWords(line)?.some(isInterpreter) === false) return false;
  const there = new Set([...namesIn(joined), ...namesIn(bare)]);
  const isThere = (word: string): boolean => namesIn(word).every((name) => there.has(name));
  const [program = "", ...others] = words;
  if (!words.some((word) => namesIn(word).length > 0) || !others.every(isThere)) return false;
  const readings = [withoutQuotes(joined), withoutQuotes(withSubstitutions(joined)), ...(isSplit ? [bare] : [])];
  return isThere(programName(program)) || readings.flatMap((each) => programsIn(each ?? bare)).some((each) => EXPANDED.test(programName(each)));
}

/** Whether a line that is not one simple command, or has code in quotes, has all words of a file's name. */
export function couldName(line: string, name: string): boolean {
  if (plainWords(line)?.some(isInterpreter) === false) return false;
  const given = line.normalize("NFC");
  const there = new Set([...namesIn(given), ...namesIn(given.replaceAll(/\\\r?\n|["'\\^]/g, ""))]);
  return namesIn(name).every((word) => there.has(word));
}

function namesIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];
}

/**
 * A line in which what is quoted or escaped is part of a word. Undefined where shells may read it in other ways, or run
 * what is quoted.
 */
function withoutQuotes(line: string): string | undefined {
  const read = line.replaceAll(QUOTING, (_, escaped?: string, single?: string, double?: string) => {
    const literal = escaped ?? single;
    if (literal !== undefined) return literal.replaceAll(/[^\p{L}\p{N}]/gu, "_");
    if (double === undefined || double.includes("$(") || double.lastIndexOf("${") > double.lastIndexOf("}")) return UNCERTAIN;
    return double.replaceAll(/[^\p{L}\p{N}$/{}]/gu, "_");
  });
  return read.includes(UNCERTAIN) || read.split(/[\s;|&()]+/).some(isInterpreter) ? undefined : read;
}

function isInterpreter(word: string): boolean {
  return INTERPRETERS.includes(programName(word));
}

/** Whether a line may have GNU Parallel or `env -S`, which take what is quoted apart into words. */
function splitsQuoted(bare: string): boolean {
  const words = bare.split(/[\s;|&()`]+/);
  const programs = new Set(words.map(programName));
  return programs.has("parallel") || (programs.has("env") && words.some((word) => /^-(?:\w*S|-s)/.test(word)));
}

/** The words of a line that can name a program, also of what is no command. */
function programsIn(line: string): string[] {
  // In `>&` and `>|` no command ends.
  return withSubstitutions(line).replaceAll(/[<>][&|]/g, ">").split(SEPARATORS).flatMap((command) => {
    const words = command.split(/\s+/).filter((word) => word !== "");
    const programs: string[] = [];
    let isValue = false;
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] ?? "";
      const redirected = REDIRECTION.exec(word)?.[0];
      if (redirected !== undefined) at += word === redirected ? 1 : 0;
      else if (at > 0 && /^[-\d]/.test(word)) isValue = word.startsWith("-");
      else if (!BEFORE.has(programName(word)) && !ASSIGNMENT.test(word)) {
        programs.push(word);
        // Of an option that has no value it is the program, of every other the one after it.
        if (!isValue) break;
        isValue = false;
      }
    }
    return programs;
  });
}

/** The name of a program without its folder and the ending of Windows. */
export function programName(word: string): string {
  return word.replace(/^.*\//, "").replace(/\.(?:exe|cmd|bat|com)$/i, "").toLowerCase();
}

/** Whether a shell could make `wanted` of a word of the last kind: a variable or a pattern can become anything. */
export function couldBecome(word: string, wanted: string): boolean {
  const starts = [word.search(/[$*?[]/), bracesIn(word)].filter((each) => each >= 0);
  if (starts.length === 0) return word === wanted;
  const ending = /(?:[*?\]}]|\$\w+(?!\w))([^$*?\]}]*)$/.exec(word)?.[1] ?? "";
  return wanted.startsWith(word.slice(0, Math.min(...starts))) && wanted.endsWith(ending);
}

/** Where the first braces begin that a shell expands: a comma or `..` is in them, or in braces in them. -1 without any. */
function bracesIn(word: string): number {
  let depth = 0;
  let start = -1;
  for (const { 0: part, index } of word.matchAll(/[{},]|\.\./g)) {
    if (part === "{") {
      if (depth === 0) start = index;
      depth += 1;
    } else if (part === "}") depth = Math.max(0, depth - 1);
    else if (depth > 0) return start;
  }
  return -1;
}
