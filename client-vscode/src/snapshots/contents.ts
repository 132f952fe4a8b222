/** The contents in a hidden repository: which are right, what is stored anew or deleted, and merges. */
import { createHash, type Hash, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

import { blobId, GitError, type HiddenGit, listOf } from "./git";
import type { Step } from "./plan";

/** Which contents can be read and have the hash that names them; after one that is damaged, none. */
export async function readable(git: HiddenGit, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const check = new BatchCheck();
  const input = ids.map((id) => `${id}\n`).join("");
  if (ids.length > 0) await git.run(["cat-file", "--batch"], input, { onPrinted: (data) => { check.add(data); } }).catch(() => undefined);
  return check.right;
}

/** Writes a content over what has its id: Git itself writes none that it takes for being there. Throws `GitError`. */
export async function storeAnew(git: HiddenGit, bytes: Uint8Array): Promise<void> {
  const id = blobId(bytes);
  const folder = join(git.repository, "objects", id.slice(0, 2));
  const file = join(folder, id.slice(2));
  const beside = join(folder, `tmp_obj_${randomUUID()}`); // Git removes what is left of such a file.
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(beside, deflateSync(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])), { flag: "wx", mode: 0o444, flush: true });
    await chmod(file, 0o644).catch(() => undefined); // Windows replaces no file that is read-only.
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw new GitError(`Its recorded copy cannot be read, and another one cannot be written. ${String(error)}`);
  }
}

/** Deletes what no reference needs, as far as that succeeds. `timeoutMs` is for the packs. Throws `GitError`. */
export async function deleteUnreferenced(git: HiddenGit, timeoutMs: number): Promise<void> {
  // What is in a pack stays there until that is written anew.
  const failure = await git.run(["repack", "-a", "-d", "-q"], "", { timeoutMs }).then(() => undefined, String);
  if (failure === undefined) {
    await git.run(["prune", "--expire=now"]);
    return;
  }
  // It would also delete what was stored anew because the copy in a pack is damaged: only what it lists by id goes.
  const listed = await git.run(["prune", "--dry-run", "--expire=now"]).catch((error: unknown) => { throw new GitError(`${failure} ${String(error)}`); });
  for (const [, folder = "", name = ""] of listed.toString().matchAll(/^([0-9a-f]{2})([0-9a-f]{38}) /gm)) await rm(join(git.repository, "objects", folder, name), { force: true });
  throw new GitError(failure);
}

/** The tree that steps make of another one. Throws `GitError`. */
export async function outcome(git: HiddenGit, tree: string, steps: readonly Pick<Step, "path" | "content">[]): Promise<string> {
  const index = join(git.repository, `index-${randomUUID()}`);
  try {
    const lines: string[] = [];
    for (const { path, content } of steps) {
      const id = content?.id ?? (content && (await git.run(["hash-object", "-w", "--stdin", "--no-filters"], await content.bytes())).toString().trim());
      lines.push(`${content?.mode ?? "0"} ${id ?? "0".repeat(40)}\t${path}`);
    }
    await git.run(["read-tree", tree], "", { index });
    if (lines.length > 0) await git.run(["update-index", "-z", "--index-info"], listOf(lines), { index });
    // A content that is gone is missed when its file is written.
    return (await git.run(["write-tree", "--missing-ok"], "", { index })).toString().trim();
  } finally {
    await rm(index, { force: true });
  }
}

/** The change from `from` to `to`, made in `there`; undefined where both changed the same lines. Throws `GitError`. */
export async function merged(git: HiddenGit, from: Buffer, to: Buffer, there: Buffer): Promise<Buffer | undefined> {
  const folder = await mkdtemp(join(git.repository, "merge-"));
  try {
    const files = { there, from, to };
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    // It exits with the number of conflicts, and with a negative one after an error: what is binary is one.
    let conflicts = 0;
    const accepts = (code: number): boolean => {
      conflicts = code;
      return true;
    };
    const printed = await git.run(["merge-file", "-p", "-q", ...Object.keys(files).map((name) => join(folder, name))], "", { accepts });
    return conflicts === 0 ? printed : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Takes what `git cat-file --batch` prints in pieces, and keeps only which of the contents are right. */
export class BatchCheck {
  /** Ids of contents that were read to their end and are right. */
  readonly right = new Set<string>();
  #line = "";
  #content: { id: string; hash: Hash; left: number } | undefined;

  add(data: Buffer): void {
    for (let at = 0; at < data.length; ) {
      if (this.#content === undefined) {
        const end = data.indexOf("\n", at);
        this.#line += data.toString("latin1", at, end < 0 ? data.length : end);
        if (end < 0) return;
        this.#begin();
        at = end + 1;
      } else {
        const part = data.subarray(at, at + this.#content.left);
        this.#content.hash.update(part);
        this.#content.left -= part.length;
        at += part.length;
      }
      this.#end();
    }
  }

  /** A line that is not the head of a content says that there is none, or is the end of the one before. */
  #begin(): void {
    const [, id, size = ""] = /^([0-9a-f]{40}) blob (\d+)$/.exec(this.#line) ?? [];
    if (id !== undefined) this.#content = { id, hash: createHash("sha1").update(`blob ${size}\0`), left: Number(size) };
    this.#line = "";
  }

  #end(): void {
    if (this.#content === undefined || this.#content.left > 0) return;
    const { id, hash } = this.#content;
    if (hash.digest("hex") === id) this.right.add(id);
    this.#content = undefined;
  }
}
