/** The files of a workspace, brought from one recorded state to another. */
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { WorkspaceSnapshots } from "../../src/snapshots/workspace";

class Workspace {
  readonly warnings: string[] = [];
  readonly unsaved = new Set<string>();
  isTrusted = true;
  readonly snapshots: WorkspaceSnapshots;

  private constructor(readonly root: string, readonly folders: string[]) {
    const isUnsaved = (path: string): boolean => this.unsaved.has(path);
    const warn = (message: string): void => { this.warnings.push(message); };
    const isTrusted = (): boolean => this.isTrusted;
    this.snapshots = new WorkspaceSnapshots(join(root, "storage"), { folders, get isTrusted() { return isTrusted(); }, isUnsaved, warn });
  }

  static async with(files: Record<string, string>, folders = ["shop"]): Promise<Workspace> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-workspace-")));
    const workspace = new Workspace(root, folders.map((name) => join(root, name)));
    for (const folder of workspace.folders) await mkdir(folder);
    await workspace.write(files);
    return workspace;
  }

  async write(files: Record<string, string | null>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = this.path(name);
      if (text === null) {
        await rm(path);
      } else {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, text);
      }
    }
  }

  path(name: string): string {
    return join(this.root, this.folders.length > 1 ? "" : "shop", name);
  }

  async take(): Promise<string> {
    const state = await this.snapshots.take("c");
    assert.ok(state !== undefined, this.warnings.join());
    return state;
  }

  /** Goes over from one state to another, and gives what became of each file. */
  async go(base: string, target: string): Promise<Record<string, string>> {
    const plan = await this.snapshots.plan("c", base, target);
    await this.snapshots.write("c", plan);
    return Object.fromEntries(plan.steps.map(({ path, fate }) => [path, fate]));
  }

  /** Every file with its text. */
  async files(): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for (const folder of this.folders) {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile()) files[path.slice(this.path("").length).replace(/^\//, "")] = await readFile(path, "utf8");
      }
    }
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join("");

test("made, changed and deleted files go back and come again byte for byte", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\r\n", "old.txt": "x", "b.bin": "\u0000\u0001" });
  await chmod(workspace.path("a.txt"), 0o640);
  const first = await workspace.take();
  const before = await workspace.files();
  await workspace.write({ "a.txt": "two", "old.txt": null, "deep/er/new.txt": "made\n", "b.bin": "\u0000\u0002" });
  await symlink("a.txt", workspace.path("link"));
  await chmod(workspace.path("b.bin"), 0o755);
  const second = await workspace.take();
  const after = await workspace.files();
  assert.deepEqual(await workspace.go(second, first), { "a.txt": "written", "b.bin": "written", "deep/er/new.txt": "deleted", "link": "deleted", "old.txt": "written" });
  assert.deepEqual(await workspace.files(), before);
  assert.equal((await stat(workspace.path("a.txt"))).mode & 0o777, 0o640);
  assert.equal((await stat(workspace.path("b.bin"))).mode & 0o111, 0);
  assert.deepEqual((await readdir(workspace.path(""))).sort(), ["a.txt", "b.bin", "old.txt"]);
  assert.equal(await workspace.take(), first);
  await workspace.go(first, second);
  assert.deepEqual(await workspace.files(), after);
  assert.equal(await readlink(workspace.path("link")), "a.txt");
  assert.equal(await workspace.take(), second);
  assert.deepEqual(workspace.warnings, []);
});

test("what was changed since a state was recorded stays: in other files, merged, or as a conflict", async () => {
  await using workspace = await Workspace.with({ "merged.txt": LINES, "same.txt": LINES, "other.txt": "x" });
  const first = await workspace.take();
  await workspace.write({ "merged.txt": LINES.replace("line 3\n", "three\n"), "same.txt": LINES.replace("line 3\n", "three\n"), "new.txt": "made\n" });
  const second = await workspace.take();
  const own = { "merged.txt": LINES.replace("line 3\n", "three\n").replace("line 25\n", "mine\n"), "same.txt": LINES.replace("line 3\n", "mine\n"), "other.txt": "mine", "new.txt": "mine" };
  await workspace.write(own);
  assert.deepEqual(await workspace.go(second, first), { "merged.txt": "merged", "same.txt": "conflict", "new.txt": "conflict" });
  assert.deepEqual(await workspace.files(), { ...own, "merged.txt": LINES.replace("line 25\n", "mine\n") });
});

test("files that no state has, unsaved ones and links in place of folders stay", async () => {
  await using workspace = await Workspace.with({ "keep.txt": "x" });
  const empty = await workspace.take();
  await workspace.write({ "made.txt": "1", "unsaved.txt": "2", "sub/in.txt": "3" });
  const made = await workspace.take();
  await workspace.go(made, empty);
  await workspace.write({ ".gitignore": "made.txt\n", "made.txt": "ignored, and mine" });
  await mkdir(join(workspace.root, "outside"));
  await symlink(join(workspace.root, "outside"), workspace.path("sub"));
  workspace.unsaved.add(workspace.path("unsaved.txt"));
  assert.deepEqual(await workspace.go(empty, made), { "made.txt": "conflict", "unsaved.txt": "conflict", "sub/in.txt": "conflict" });
  assert.equal((await workspace.files())["made.txt"], "ignored, and mine");
  assert.deepEqual(await readdir(join(workspace.root, "outside")), []);
});

test("nothing is written where files have changed after the plan, or the workspace is not trusted", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  const first = await workspace.take();
  await workspace.write({ "a.txt": "two" });
  const second = await workspace.take();
  const plan = await workspace.snapshots.plan("c", second, first);
  await workspace.write({ "a.txt": "three" });
  await assert.rejects(workspace.snapshots.write("c", plan), /changed meanwhile/);
  assert.deepEqual(await workspace.files(), { "a.txt": "three" });
  workspace.isTrusted = false;
  assert.equal(await workspace.snapshots.take("c"), undefined);
});

test("each folder of a workspace has its state, and one that a state lacks stays as it is", async () => {
  await using workspace = await Workspace.with({ "one/a": "1", "two/a": "1" }, ["one", "two"]);
  const first = await workspace.take();
  await workspace.write({ "one/a": "2", "two/a": "2" });
  const second = await workspace.take();
  const [one = "", two = ""] = first.split(" ");
  assert.deepEqual(await workspace.go(second, one), { a: "written" });
  assert.deepEqual(await workspace.files(), { "one/a": "1", "two/a": "2" });
  assert.deepEqual(await workspace.go(`${one} ${second.split(" ")[1] ?? ""}`, `${one} ${two}`), { a: "written" });
  assert.deepEqual(await workspace.files(), { "one/a": "1", "two/a": "1" });
});

test("states of a deleted conversation are gone, those of others are not", async () => {
  await using workspace = await Workspace.with({ "a": "1" });
  const shared = await workspace.take();
  await workspace.snapshots.take("other");
  await workspace.write({ "a": "2" });
  const own = await workspace.take();
  await workspace.write({ "a": "3" });
  const now = (await workspace.snapshots.take("other")) ?? "";
  await workspace.snapshots.forget("c");
  await assert.rejects(workspace.snapshots.plan("other", own, shared), /git/);
  assert.equal((await workspace.snapshots.plan("other", now, shared)).steps.length, 1);
});

/** Numbers from 0 to below `end`, the same for the same seed. */
function randomFrom(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

for (const seed of [1, 2, 3]) {
  test(`random edits of an agent and a user on random branches: every state comes back, and nothing of the user's is lost (seed ${seed})`, async () => {
    await using workspace = await Workspace.with({ "f0": LINES, "f1": LINES, "f2": LINES });
    const random = randomFrom(seed);
    const branches = [await workspace.take()];
    let at = 0;
    for (let round = 0; round < 12; round += 1) {
      // The agent works on the branch, and its state is recorded.
      const name = `f${random(6)}`;
      const text = (await workspace.files())[name];
      if (text !== undefined && random(4) === 0) await workspace.write({ [name]: null });
      else await workspace.write({ [name]: (text ?? LINES).replace(`line ${random(30)}\n`, `agent ${round}\n`) });
      const state = await workspace.take();
      if (random(2) === 0) branches.push(branches[at] ?? "");
      branches[at] = state;
      const recorded = await workspace.files();
      // The user's own file, and a line of the user's at the end of another one.
      const mine = { "mine.txt": `round ${round}\n` };
      await workspace.write(mine);
      const target = random(branches.length);
      const fates = await workspace.go(state, branches[target] ?? "");
      // The user's file is on other branches as it was when those were recorded: now it is the user's.
      assert.deepEqual(Object.keys(fates).filter((path) => fates[path] === "conflict" && path !== "mine.txt"), []);
      assert.equal((await workspace.files())["mine.txt"], `round ${round}\n`);
      await workspace.go(branches[target] ?? "", state);
      assert.deepEqual(await workspace.files(), { ...recorded, ...mine });
      at = target;
      await workspace.go(state, branches[at] ?? "");
      branches[at] = await workspace.take();
    }
  });
}
