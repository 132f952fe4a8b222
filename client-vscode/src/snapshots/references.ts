import { createHash } from "node:crypto";

import type { HiddenGit } from "./git";

/** In the names of references to the patterns of a snapshot. */
export const EXCLUDES = "excludes";
/** In the name of the reference that has a conversation's id, in hexadecimal digits. */
const CONVERSATION = "conversation";

/** Where the references of a conversation are. */
export function namespace(conversationId: string): string {
  return `refs/coppice/${digest(conversationId)}`;
}

/** The reference whose name has the conversation's id. */
export function referenceNaming(conversationId: string): string {
  return `${namespace(conversationId)}/${CONVERSATION}/${Buffer.from(conversationId).toString("hex")}`;
}

/** The ids of the conversations that have references. Throws `GitError`. */
export async function conversationsOf(git: HiddenGit): Promise<string[]> {
  const names = await linesOf(git, ["for-each-ref", "--format=%(refname:lstrip=4)", `refs/coppice/*/${CONVERSATION}/*`]);
  return names.map((name) => Buffer.from(name, "hex").toString());
}

/** Gives a conversation the references that another one has. Throws `GitError`. */
export async function shareReferences(git: HiddenGit, conversationId: string, otherId: string): Promise<void> {
  const references = await linesOf(git, ["for-each-ref", "--format=%(objectname) %(refname:lstrip=3)", namespace(otherId)]);
  const updates = references.map((line) => {
    const [object = "", name = ""] = line.split(" ");
    return `update ${name.startsWith(`${CONVERSATION}/`) ? referenceNaming(conversationId) : `${namespace(conversationId)}/${name}`} ${object}\n`;
  });
  await git.run(["update-ref", "--stdin"], updates.join(""));
}

/** Whether there were references of these conversations; they are gone then. Throws `GitError`. */
export async function deleteReferences(git: HiddenGit, conversationIds: readonly string[]): Promise<boolean> {
  if (conversationIds.length === 0) return false; // Without a pattern Git lists all of them.
  const references = await git.run(["for-each-ref", "--format=delete %(refname)", ...conversationIds.map(namespace)]);
  if (references.length > 0) await git.run(["update-ref", "--stdin"], references);
  return references.length > 0;
}

export async function linesOf(git: HiddenGit, command: readonly string[]): Promise<string[]> {
  return (await git.run(command)).toString().split("\n").filter((line) => line !== "");
}

/** A name for a text in files and references. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
