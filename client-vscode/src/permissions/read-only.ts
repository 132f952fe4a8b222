/** The commands that may run without a question: programs that only read, and the options of each that were reviewed. */
import { plainWords } from "./words";

interface Grammar {
  /** What the program reads: the bytes of one file, the names in one folder, or nothing. */
  reads: "file" | "folder" | "nothing";
  /** Options of one letter, which can be joined in a word. */
  flags: string;
  /** Options of one letter with a number, in a word of their own. Where there are any, `-5` is `-n 5`. */
  numbers: string;
}

/**
 * Not in the list, since it runs what a checkout says: Git, and `--version` of compilers, runtimes and package managers.
 * `rust-toolchain.toml`, `.yarnrc`, `global.json` and `.python-version` choose the program that answers.
 */
const GRAMMARS: ReadonlyMap<string, Grammar> = new Map([
  ["pwd", { reads: "nothing", flags: "", numbers: "" }],
  ["ls", { reads: "folder", flags: "1AFSahlrt", numbers: "" }],
  ["cat", { reads: "file", flags: "n", numbers: "" }],
  ["head", { reads: "file", flags: "", numbers: "cn" }],
  ["tail", { reads: "file", flags: "", numbers: "cn" }],
  ["wc", { reads: "file", flags: "clmw", numbers: "" }],
]);

export const READ_ONLY_PROGRAMS = [...GRAMMARS.keys()];

const NUMBER = /^[+-]?\d{1,9}$/;
const LINES = /^-\d{1,9}$/;

/** A command that only reads, taken apart. */
export interface Reading {
  program: string;
  options: string[];
  reads: Grammar["reads"];
  /** The file or folder as it was written; that of `ls` may be missing. */
  operand: string | undefined;
}

/** What a command line reads. Undefined where it is not one of the list, or has an option or an operand too many. */
export function readingOf(line: string): Reading | undefined {
  const [program = "", ...words] = plainWords(line) ?? [];
  const grammar = GRAMMARS.get(program);
  if (grammar === undefined) return undefined;
  const { reads } = grammar;
  const options: string[] = [];
  const operands: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--") operands.push(...words.splice(0));
    else if (!word.startsWith("-")) operands.push(word);
    else {
      const option = optionOf(word, grammar, words);
      if (option === undefined) return undefined;
      options.push(...option);
    }
  }
  const [operand] = operands;
  const isMissing = operand === undefined && reads === "file";
  if (isMissing || operands.length > (reads === "nothing" ? 0 : 1) || !isPlace(operand)) return undefined;
  return { program, options, reads, operand };
}

/** The words of an option, of which `rest` may hold the number. Undefined for one that is not in the grammar. */
function optionOf(word: string, { flags, numbers }: Grammar, rest: string[]): string[] | undefined {
  const [letter = "", ...joined] = word.slice(1);
  if (letter === "") return undefined;
  if ([letter, ...joined].every((each) => flags.includes(each))) return [word];
  if (numbers !== "" && LINES.test(word)) return ["-n", word.slice(1)];
  const number = joined.length > 0 ? joined.join("") : rest.shift();
  return numbers.includes(letter) && number !== undefined && NUMBER.test(number) ? [`-${letter}`, number] : undefined;
}

/** Not `-`, the standard input; not `+5`, to some systems an option; not `link/..`, which is not the folder that holds `link`. */
function isPlace(operand = "."): boolean {
  return operand !== "" && operand !== "-" && !operand.startsWith("+") && !operand.split("/").includes("..");
}
