/** What a person allows or refuses once for all. */
import * as v from "valibot";

import type { ApprovalRequest } from "../approvals/approval";
import { plainWords, possibleWords } from "./words";

const COMMANDS = "run_command";
/** Both tools that change files ask with this scope. */
const EDITS = "edit_file";

const rule = v.object({
  effect: v.picklist(["allow", "ask", "deny"]),
  /** The tool's name; `edit_file` stands for every tool that changes files. */
  tool: v.pipe(v.string(), v.minLength(1)),
  /** The first words of a command. */
  words: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1))),
  /** The command has these words and no more. */
  exact: v.optional(v.boolean()),
  /** Where the command runs; without it anywhere. */
  directory: v.optional(v.string()),
  /** The folder or file of an edit, from the workspace folder; empty for all of them. */
  path: v.optional(v.string()),
});

export type Rule = v.InferOutput<typeof rule>;
export type Effect = Rule["effect"];

/** The rules in `value` that can be read; what cannot is left out. */
export function readRules(value: unknown): Rule[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const parsed = v.safeParse(rule, each);
    return parsed.success ? [parsed.output] : [];
  });
}

/** Whether a rule is about what is asked. One that refuses sees more than one that allows: what cannot be read, too. */
export function isAbout({ effect, tool, words, exact, directory, path }: Rule, request: ApprovalRequest): boolean {
  if (tool !== toolOf(request)) return false;
  if (words !== undefined) {
    const asked = commandOf(request);
    if (asked === undefined || (directory !== undefined && directory !== asked.directory)) return false;
    if (effect !== "allow") return possibleWords(asked.command).some((given) => contains(given, words));
    const given = plainWords(asked.command);
    if (given === undefined || !words.every((word, at) => word === given[at])) return false;
    return exact === true ? given.length === words.length : areHarmless(given.slice(words.length));
  }
  if (path === undefined) return true;
  const changed = pathOf(request);
  return changed !== undefined && (path === "" || changed === path || changed.startsWith(`${path}/`));
}

/** Options that choose what is shown or how much is done, and name no program, file or folder. */
const HARMLESS = /^(?:-[vqs]+|--(?:verbose|quiet|silent|coverage|no-coverage|bail|color|no-color|release|lib|all|workspace|locked|offline|help|version))$/;

/** Whether words may follow a prefix: before `--` no other options and no assignments, `make test SHELL=…`. */
function areHarmless(rest: readonly string[]): boolean {
  const end = rest.indexOf("--");
  const own = end < 0 ? rest : rest.slice(0, end);
  return own.every((word) => HARMLESS.test(word) || !/^-|=/.test(word));
}

/** Programs that run what their arguments say, or that ask another program to: never allowed by a first word. */
const ANYTHING = /^(?:.*\/.*|(?:ba|z|da|fi|k|c|tc)?sh|pwsh|powershell|cmd|env|sudo|doas|su|exec|eval|source|command|builtin|nohup|nice|time|timeout|xargs|find|ssh|scp|rsync|docker|podman|kubectl|npx|bunx|uvx|pipx|uv|poetry|node|deno|bun|python[\d.]*|ruby|perl|php|lua|awk|sed|vi|vim|tee|dd|rm|mv|cp|chmod|chown|curl|wget|git)$/;
const SUBCOMMAND = /^[a-z][a-z0-9:_-]*$/;
const RUNS_SCRIPTS = /^(?:npm|pnpm|yarn)$/;
const RUNS_ANYTHING = new Set(["exec", "dlx", "x", "create", "init", "run-script", "config", "set", "install", "add"]);

/**
 * The rule that would allow what is asked, and more like it. Undefined where each use has to be seen. A command that
 * runs its arguments is proposed as it is, without more arguments.
 */
export function proposalOf(request: ApprovalRequest): Rule | undefined {
  if (request.scope === null) return undefined;
  const tool = toolOf(request);
  if (tool === COMMANDS) {
    const asked = commandOf(request);
    const words = asked && plainWords(asked.command);
    if (asked === undefined || words === undefined) return undefined;
    const prefix = prefixOf(words);
    const place = asked.directory === undefined ? {} : { directory: asked.directory };
    return prefix === undefined ? { effect: "allow", tool, words, exact: true, ...place } : { effect: "allow", tool, words: prefix, ...place };
  }
  const changed = pathOf(request);
  if (tool !== EDITS) return { effect: "allow", tool };
  return changed === undefined ? undefined : { effect: "allow", tool, path: changed.split("/").slice(0, -1).join("/") };
}

function prefixOf(words: readonly string[]): string[] | undefined {
  const [program = "", command = "", script = ""] = words;
  if (ANYTHING.test(program) || !SUBCOMMAND.test(command) || RUNS_ANYTHING.has(command)) return undefined;
  if (RUNS_SCRIPTS.test(program) && command === "run") return SUBCOMMAND.test(script) ? [program, command, script] : undefined;
  return [program, command];
}

/** A rule in a line: ``run_command `npm test …` in shop``. */
export function describe({ tool, words, exact, directory, path }: Rule): string {
  if (words !== undefined) return `${tool} \`${words.join(" ")}${exact === true ? "" : " …"}\`${directory === undefined ? "" : ` in ${directory}`}`;
  if (path === undefined) return tool;
  return path === "" ? `${tool} everywhere in the workspace` : `${tool} in ${path}`;
}

function toolOf({ tool, scope }: ApprovalRequest): string {
  return tool === "write_file" || scope === EDITS ? EDITS : tool;
}

function commandOf({ tool, details }: ApprovalRequest): { command: string; directory?: string | undefined } | undefined {
  return tool === COMMANDS ? details.find((detail) => detail.kind === "command") : undefined;
}

function pathOf({ details }: ApprovalRequest): string | undefined {
  return details.find((detail) => detail.kind === "diff")?.path;
}

function contains(all: readonly string[], part: readonly string[]): boolean {
  return all.some((_, from) => part.every((word, at) => all[from + at] === word || (at === 0 && all[from]?.endsWith(`/${word}`) === true)));
}
