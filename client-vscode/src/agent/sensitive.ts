import { lstat } from "node:fs/promises";
import { join } from "node:path";

import ignore from "ignore";

import { withoutHidden } from "../format";
import { isCheckout, isIgnored } from "../ignoring/files";
import { SECRET_NAMES } from "../protocol.gen";
import { CONTROL } from "./control-names";
import type { Place } from "./paths";

/**
 * Every file and folder with a dot is a tool's own: its settings name programs and modules, or instruct an agent, and
 * each year has new ones. The others, which name neither, are few. `.gitignore` is none of them: it decides what is read
 * without a question.
 */
const DOTTED = [
  ".*",
  ...[".dockerignore", ".npmignore", ".eslintignore", ".prettierignore", ".stylelintignore", ".helmignore", ".vscodeignore"].map((name) => `!${name}`),
  ...[".gitkeep", ".keep", ".nojekyll", ".mailmap", ".editorconfig", ".env.example", ".env.sample", ".env.template"].map((name) => `!${name}`),
  ...[".nvmrc", ".node-version", ".python-version", ".ruby-version", ".java-version", ".well-known", ".changeset"].map((name) => `!${name}`),
];

const secrets = ignore({ ignorecase: true }).add(SECRET_NAMES);
const control = ignore({ ignorecase: true }).add(CONTROL);
const dotted = ignore({ ignorecase: true }).add(DOTTED);

export type Sensitivity = "secret" | "ignored" | "control";

/** Whether a file of this name usually holds credentials. `relative` has `/` and is not empty; that of a folder may end in it. */
export function isSecret(relative: string): boolean {
  return secrets.ignores(relative);
}

/** Why a file is not to be touched without a question each time, or undefined where it may be. */
export async function sensitivityOf(place: Place, writing: boolean): Promise<Sensitivity | undefined> {
  if (place.relative === "") return undefined;
  // A pattern of a folder matches a name that ends in `/`.
  const names = readings(place.relative).flatMap((name) => [name, `${name}/`]);
  const isGits = await isPartOfRepository(place);
  if (writing && (isGits || names.some((name) => control.ignores(name)) || (await isPartOfEnvironment(place)))) return "control";
  if (isGits || names.some(isSecret)) return "secret";
  if (writing && names.some((name) => dotted.ignores(name))) return "control";
  return (await isIgnored(place.folder, place.relative)) ? "ignored" : undefined;
}

/**
 * A path as it is, and as a file system reads it that passes over parts of a name: HFS+ over characters that do not
 * show, Windows over dots and spaces at the end and the name of a stream; there `git~1` is `.git`, too.
 */
function readings(relative: string): string[] {
  const parts = relative.split("/").map((part) => {
    const read = withoutHidden(part).replace(/:.*$/, "").replace(/[. ]+$/, "");
    return /^git~\d$/i.test(read) ? ".git" : read || part;
  });
  return [relative, parts.join("/")];
}

/**
 * Whether the file is `.git`, lies below one, or in a folder that Git takes for a repository: one with a `HEAD`, unless
 * the folder is a checkout. Its `config` names programs, and addresses with passwords.
 */
export async function isPartOfRepository({ folder, relative }: Pick<Place, "folder" | "relative">): Promise<boolean> {
  if (readings(relative).some((name) => name.toLowerCase().split("/").includes(".git"))) return true;
  const parts = relative.split("/");
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const at = join(folder, ...parts.slice(0, depth));
    if (await isCheckout(at)) return false;
    if (await exists(join(at, "HEAD"))) return true;
  }
  return false;
}

/** Whether the file lies in a virtual environment of Python, whatever its name: editors and shells run its programs. */
async function isPartOfEnvironment({ folder, relative }: Place): Promise<boolean> {
  const parts = relative.split("/");
  for (let depth = 0; depth < parts.length; depth += 1) if (await exists(join(folder, ...parts.slice(0, depth), "pyvenv.cfg"))) return true;
  return false;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** What the question shows a person of the file. */
export const WARNINGS: Record<Sensitivity, string> = {
  secret: "This file may hold credentials. What is read goes to the model's provider.",
  ignored: "This file is ignored by Git.",
  control: "This file can make programs run, give instructions to agents, or decide what is read without asking.",
};
