import { join, posix } from "node:path";

import ignore from "ignore";

import type { Place } from "./paths";
import { textOfFile } from "./text-file";

/** Names of files that usually hold credentials. */
const SECRETS = [
  ".env",
  ".env.*",
  "*.env",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  "!*.pub",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".htpasswd",
  ".git-credentials",
  ".ssh/",
  ".aws/",
  ".gnupg/",
  ".kube/",
  ".docker/config.json",
  "credentials",
  "credentials.*",
  "secrets.*",
];

/** Files that make an editor, Git or an agent run or allow something. */
const CONTROL = [".git/", ".vscode/", ".idea/", ".devcontainer/", ".coppice/", ".husky/", "*.code-workspace"];

const secrets = ignore({ ignorecase: true }).add(SECRETS);
const control = ignore({ ignorecase: true }).add(CONTROL);

export type Sensitivity = "secret" | "ignored" | "control";

/** Patterns in the notation of `.gitignore` for what `search` leaves out. */
export const SECRET_PATTERNS: readonly string[] = SECRETS;

/** Whether a file of this name usually holds credentials. `relative` has `/` and is not empty. */
export function isSecret(relative: string): boolean {
  return secrets.ignores(relative);
}

/** Why a file is not to be touched without a question each time, or undefined where it may be. */
export async function sensitivityOf(place: Place, writing: boolean): Promise<Sensitivity | undefined> {
  if (place.relative === "") return undefined;
  if (isSecret(place.relative)) return "secret";
  if (control.ignores(place.relative) && (writing || place.relative.startsWith(".git/"))) return "control";
  return (await isIgnored(place)) ? "ignored" : undefined;
}

/** Whether a `.gitignore` between the workspace folder and the file excludes it, or cannot be read. */
async function isIgnored({ folder, relative }: Place): Promise<boolean> {
  const parts = relative.split("/");
  let ignored = false;
  for (let depth = 0; depth < parts.length; depth += 1) {
    const rules = await textOfFile(join(folder, ...parts.slice(0, depth), ".gitignore")).catch(() => "*");
    if (rules === null) continue;
    const { ignored: excluded, unignored } = ignore().add(rules).test(posix.join(...parts.slice(depth)));
    ignored = (ignored || excluded) && !unignored;
  }
  return ignored;
}

/** What the question shows a person of the file. */
export const WARNINGS: Record<Sensitivity, string> = {
  secret: "This file may hold credentials. What is read goes to the model's provider.",
  ignored: "This file is ignored by Git.",
  control: "This file can make programs run.",
};
