/** What a person allows or refuses once for all. */
import * as v from "valibot";

import { type ApprovalRequest, placed } from "../approvals/approval";
import { couldBecome, couldHide, plainWords, possibleWords, programName } from "./words";

const COMMANDS = "run_command";
/** Both tools that change files ask with this scope. */
const EDITS = "edit_file";
/** Stands for every tool, in a rule about a file or folder: allowing means edits, and `src/agent/file-rules.ts` the others. */
export const FILES = "*";

const rule = v.object({
  effect: v.picklist(["allow", "ask", "deny"]),
  /** The tool's name; `edit_file` stands for every tool that changes files, `*` for all. */
  tool: v.pipe(v.string(), v.minLength(1)),
  /** The first words of a command. */
  words: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
  /** The command has these words and no more. */
  exact: v.optional(v.boolean()),
  /** Where the command runs, as it was shown; without it anywhere. */
  directory: v.optional(v.string()),
  /** The folder or file, as it was shown; empty for all of them. */
  path: v.optional(v.string()),
  /** The same directory or path in its workspace folder, which another folder of that name is not. */
  place: v.optional(placed),
});

export type Rule = v.InferOutput<typeof rule>;
export type Effect = Rule["effect"];

export interface RuleSource {
  /** The rules that hold in a conversation. */
  rulesOf(conversationId: string): readonly Rule[];
}

/**
 * Whether a rule may hold in every workspace. One that allows what is in a folder or a file means those of its own
 * workspace: the same names in the next checkout are other files.
 */
export function mayHoldAlways({ effect, directory, path }: Rule): boolean {
  return effect !== "allow" || (directory === undefined && path === undefined);
}

/** The rules in `value` that can be read; what cannot is left out. */
export function readRules(value: unknown): Rule[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const parsed = v.safeParse(rule, each);
    return parsed.success ? [parsed.output] : [];
  });
}

/** Whether a rule is about what is asked. One that refuses sees more than one that allows: what cannot be read, and paths in another case. */
export function isAbout(rule: Rule, request: ApprovalRequest): boolean {
  const { effect, tool, words, exact, path } = rule;
  if (tool !== toolOf(request) && (tool !== FILES || path === undefined)) return false;
  if (words !== undefined) {
    const command = commandFor(rule, request);
    if (command === undefined) return false;
    const given = plainWords(command);
    if (effect !== "allow") return contains(given ?? [], words, isSame) || couldContain(command, words, words[0]);
    if (given === undefined || !words.every((word, at) => word === given[at])) return false;
    return exact === true ? given.length === words.length : areHarmless(given.slice(words.length), listedFor(words) ?? {});
  }
  if (path === undefined) return true;
  const changed = changeOf(request);
  if (changed === undefined) return false;
  return isPlacedAt(rule, path, changed.path, changed.place, (own, given) => (effect === "allow" ? isBelow(own, given) : isBelow(own.toLowerCase(), given.toLowerCase())));
}

/** Whether a rule refuses a tool whatever it is called with. */
export function refusesAll({ effect, tool, words, path }: Rule, name: string): boolean {
  return effect === "deny" && words === undefined && path === undefined && tool === ruledAs(name);
}

/**
 * Whether a person has to see a command since what a rule refuses or asks about could be hidden in it. It may run in any
 * folder: a line can go to that of the rule.
 */
export function couldBeAbout(rule: Rule, request: ApprovalRequest): boolean {
  const asked = rule.effect === "allow" || rule.tool !== toolOf(request) ? undefined : commandOf(request);
  if (asked === undefined || rule.words === undefined) return false;
  return couldHide(asked.command, rule.words) || couldContain(commandFor(rule, request) ?? "", rule.words);
}

/** The command line that is asked about, where it would run in the directory of the rule. */
function commandFor(rule: Rule, request: ApprovalRequest): string | undefined {
  const asked = commandOf(request);
  if (asked === undefined || rule.directory === undefined) return asked?.command;
  return isPlacedAt(rule, rule.directory, asked.directory, asked.place, isSame) ? asked.command : undefined;
}

/**
 * Whether the place of a rule agrees with what is asked, which is `shown` and lies at `place`. One that refuses or asks
 * everywhere does so in each folder. What an earlier version stored has no place: it allows nothing, and refuses and asks
 * by the name that was shown then, when there may have been one folder only.
 */
function isPlacedAt({ effect, place: own }: Rule, named: string, shown: string | undefined, place: Rule["place"], agree: (own: string, given: string) => boolean): boolean {
  if (effect !== "allow" && named === "") return true;
  if (own !== undefined) return own.folder === place?.folder && agree(own.path, place.path);
  if (effect === "allow" && place !== undefined) return false;
  return (shown !== undefined && agree(named, shown)) || (place !== undefined && agree(named === "." ? "" : named, place.path));
}

/** Both with `/`. An empty folder is that of all paths. */
export function isBelow(folder: string, path: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** Options that choose what is shown or how much is done, and name no program, file or folder. */
const HARMLESS = /^(?:-[vqs]+|--(?:verbose|quiet|silent|coverage|no-coverage|bail|color|no-color|release|lib|all|locked|offline|help|version))$/;

/** A path that is absolute, that of a URL too, or leads upwards. */
const ELSEWHERE = /(?:^|:)[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** What may follow a command. */
interface Further {
  options?: RegExp;
  words?: RegExp;
}

/**
 * Commands that are proposed with further words, which choose among the tests, packages and files they are about.
 * Not `npm run env`, which runs its arguments, nor `yarn run`, which runs every program of the packages, nor `make`, whose
 * further words are other targets. What may follow of options is `HARMLESS`, or those of the command alone; of other words
 * any, or those that `words` describes.
 */
const PREFIXES: readonly (Further & { prefix: RegExp })[] = [
  { prefix: /^(?:(?:npm|pnpm|yarn) test|(?:npm|pnpm) run (?!env$)[a-z][a-z0-9:_-]*|cargo (?:bench|build|check|clippy|doc|test)|go (?:build|test|vet))$/ },
  // Not `-k` and `-m`: before version 5.4 their values were code. Another file than one of tests would be run.
  { prefix: /^(?:python3? -m )?pytest$/, words: /^(?:[^:]*\/)?(?:test_[^/:]*|[^/:]*_test)\.py(?:::.*)?$/, options: /^(?:-[vqsx]+|--(?:verbose|quiet|exitfirst|lf|last-failed|ff|failed-first|no-header|help|version|tb=(?:auto|long|short|line|native|no)))$/ },
  // Not `git diff`, nor a verbose `git status`: files that further words name choose a driver, which is a program.
  { prefix: /^git (?:log|status)$/, options: /^(?:-\d+|-n|-[sb]+|--(?:oneline|graph|decorate|all|short|branch|porcelain|color|no-color))$/ },
];
const LONGEST_PREFIX = 3;

function listedFor(prefix: readonly string[]): Further | undefined {
  const shown = prefix.join(" ");
  return prefix.some((word) => word.includes(" ")) ? undefined : PREFIXES.find((each) => each.prefix.test(shown));
}

/**
 * Whether words may follow a prefix: no options but `options`, no files of options, no assignments, `make test SHELL=…`,
 * and no paths out of the folder, also behind `--`.
 */
function areHarmless(rest: readonly string[], { options = HARMLESS, words }: Further): boolean {
  return rest.every((word) => word === "--" || options.test(word) || !(/^[-@]|=/.test(word) || ELSEWHERE.test(word) || words?.test(word) === false));
}

/**
 * The rule that would allow what is asked, and more like it. Undefined where each use has to be seen. A command whose
 * further words could do something else is proposed as it is.
 */
export function proposalOf(request: ApprovalRequest): Rule | undefined {
  if (request.scope === null) return undefined;
  const tool = toolOf(request);
  if (tool === COMMANDS) {
    const asked = commandOf(request);
    const words = asked && plainWords(asked.command);
    if (asked === undefined || words === undefined) return undefined;
    const prefix = prefixOf(words);
    const place = asked.directory === undefined ? {} : { directory: asked.directory, ...(asked.place && { place: asked.place }) };
    return prefix === undefined ? { effect: "allow", tool, words, exact: true, ...place } : { effect: "allow", tool, words: [...prefix], ...place };
  }
  const changed = changeOf(request);
  if (tool !== EDITS) return { effect: "allow", tool };
  if (changed === undefined) return undefined;
  const { path, place } = changed;
  return { effect: "allow", tool, path: parentOf(path), ...(place && { place: { ...place, path: parentOf(place.path) } }) };
}

function parentOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}

/** The longest beginning of a command that is proposed with what follows it. */
function prefixOf(words: readonly string[]): readonly string[] | undefined {
  for (let length = LONGEST_PREFIX; length > 0; length -= 1) {
    const prefix = words.slice(0, length);
    const further = listedFor(prefix);
    if (further !== undefined) return areHarmless(words.slice(length), further) ? prefix : undefined;
  }
  return undefined;
}

/** A rule in a line: ``run_command `npm test …` in shop``. */
export function describe({ tool, words, exact, directory, path }: Rule): string {
  if (words !== undefined) return `${tool} \`${words.join(" ")}${exact === true ? "" : " …"}\`${directory === undefined ? "" : ` in ${directory}`}`;
  if (path === undefined) return tool;
  if (tool === FILES) return `the path ${path || "."}`;
  return path === "" ? `${tool} everywhere in the workspace` : `${tool} in ${path}`;
}

/** For the model, whose call is not carried out. */
export function refusalBy(rule: Rule): string {
  return `A rule of the user's refuses this: ${describe(rule)}.`;
}

function toolOf({ tool, scope }: ApprovalRequest): string {
  return scope === EDITS ? EDITS : ruledAs(tool);
}

function ruledAs(tool: string): string {
  return tool === "write_file" ? EDITS : tool;
}

function commandOf({ tool, details }: ApprovalRequest) {
  return tool === COMMANDS ? details.find((detail) => detail.kind === "command") : undefined;
}

function changeOf({ details }: ApprovalRequest) {
  return details.find((detail) => detail.kind === "diff");
}

/**
 * Whether a line could run a command with these words, both taken apart in the same way. Words of an input are those of
 * `program` alone where that is given, and may else belong to every program that another runs.
 */
function couldContain(line: string, words: readonly string[], program?: string): boolean {
  const parts = possibleWords(words.join(" "), program);
  return possibleWords(line, program).some((given, at) => contains(given, parts[at] ?? [], at < 2 ? isSame : couldBecome));
}

/**
 * Whether the words of `part` come one after the other in `all`. Options may lie between, each with a word that can be
 * its value, since `git -C x push` pushes, too; a program counts with its folder and the ending of Windows.
 */
function contains(all: readonly string[], part: readonly string[], agree: (word: string, wanted: string) => boolean): boolean {
  /** How many words of `part` may have been read, and whether the next word can be the value of an option. */
  let reached = new Map([[0, false]]);
  for (const word of all) {
    const next = new Map([[0, false]]);
    for (const [count, isValue] of reached) {
      const wanted = part[count];
      if (wanted !== undefined && (count === 0 ? programName(word) === programName(wanted) : agree(word, wanted))) next.set(count + 1, next.get(count + 1) ?? false);
      if (count > 0 && (isValue || word.startsWith("-"))) next.set(count, word.startsWith("-") || (next.get(count) ?? false));
    }
    if (part.length > 0 && next.has(part.length)) return true;
    reached = next;
  }
  return false;
}

function isSame(word: string, wanted: string): boolean {
  return word === wanted;
}
