/** The files of a workspace, brought from one recorded state to another. */
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { leftFiles } from "../../src/chat/left-files";
import { ignoresCase } from "../../src/snapshots/case";
import type { PlacedStep } from "../../src/snapshots/workspace";
import { Workspace } from "./recorded";

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

test("of two names that differ in case alone, one is deleted where the folder tells them apart", async (context) => {
  await using workspace = await Workspace.with({ "README": "upper", "a.txt": "x" });
  if (await ignoresCase(workspace.path(""))) {
    context.skip("The folder ignores case.");
    return;
  }
  const first = await workspace.take();
  await workspace.write({ "Readme": "mine" });
  const second = await workspace.take();
  await workspace.write({ "README": null });
  assert.deepEqual(await workspace.go(second, first), { "Readme": "deleted" });
  assert.deepEqual(await workspace.files(), { "a.txt": "x" });
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

test("what has changed after the plan stays, and nothing is written in a workspace that is not trusted", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one", "b.txt": "one", "gone.txt": "x", "unsaved.txt": "one" });
  const first = await workspace.take();
  await workspace.write({ "a.txt": "two", "b.txt": "two", "gone.txt": null, "unsaved.txt": "two", "made.txt": "two" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  await workspace.write({ "a.txt": "mine", "gone.txt": "mine", "made.txt": "mine" });
  workspace.unsaved.add(workspace.path("unsaved.txt"));
  const { stayed, state } = await workspace.snapshots.write("c", steps);
  assert.deepEqual(stayed.map(({ path }) => path), ["made.txt", "a.txt", "gone.txt", "unsaved.txt"]);
  assert.deepEqual(await workspace.files(), { "a.txt": "mine", "b.txt": "one", "gone.txt": "mine", "unsaved.txt": "two", "made.txt": "mine" });
  assert.equal(await workspace.take(), state);
  const plan = await workspace.snapshots.plan("c", first, second);
  workspace.isTrusted = false;
  assert.equal((await workspace.snapshots.write("c", plan.steps)).stayed.length, plan.steps.length);
  assert.equal(await workspace.snapshots.take("c"), undefined);
});

test("a file that cannot be written does not keep the others from it", async () => {
  await using workspace = await Workspace.with({ "a": "one", "z": "one" });
  const first = await workspace.take();
  await workspace.write({ "a": "two", "z": "two" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  const full = steps.map((step) => (step.path === "a" ? { ...step, content: { mode: "100644", bytes: () => Promise.reject(new Error("The disk is full.")) } } : step));
  const { stayed } = await workspace.snapshots.write("c", full);
  assert.deepEqual(stayed.map(({ path }) => path), ["a"]);
  assert.deepEqual(await workspace.files(), { "a": "two", "z": "one" });
  assert.match(workspace.warnings.join(), /a was not written.*disk is full/);
});

test("files, folders and links take each other's places", async () => {
  await using workspace = await Workspace.with({ "a": "file", "b/in/side": "x", "c/x": "x", "d/mine": "x", "d/x": "x" });
  const first = await workspace.take();
  await workspace.write({ "a": null, "a/inside": "y", "d/x": null, "d/mine": null });
  await rm(workspace.path("b"), { recursive: true });
  await symlink("c", workspace.path("b"));
  await rm(workspace.path("c"), { recursive: true });
  await rm(workspace.path("d"), { recursive: true });
  await workspace.write({ "c": "file", "d": "file" });
  const second = await workspace.take();
  await workspace.go(second, first);
  assert.deepEqual(await workspace.files(), { "a": "file", "b/in/side": "x", "c/x": "x", "d/mine": "x", "d/x": "x" });
  assert.equal(await workspace.take(), first);
  // A file of the user's below a folder that is to become a file: it stays, and so does the folder.
  await workspace.write({ "d/own": "mine" });
  const fates = await workspace.go(first, second);
  assert.deepEqual([fates["d"], fates["d/x"], fates["c"], fates["b"]], ["conflict", "deleted", "written", "written"]);
  assert.equal((await workspace.files())["d/own"], "mine");
  assert.equal(await readlink(workspace.path("b")), "c");
});

test("a file that is ignored or too large in one of two states stays", async () => {
  await using workspace = await Workspace.with({ ".gitignore": "", "log": "small", "kept/log": "small", "cache": "x" });
  const first = await workspace.take();
  await workspace.write({ ".gitignore": "cache\n", "log": "x".repeat(6_000_000) });
  const second = await workspace.take();
  assert.notEqual(second, first);
  assert.deepEqual(await workspace.go(second, first), { ".gitignore": "written", "cache": "conflict", "log": "conflict" });
  assert.deepEqual([(await workspace.files())["cache"], (await workspace.files())["log"]?.length], ["x", 6_000_000]);
  await workspace.write({ "log": "small" });
  assert.deepEqual(await workspace.go(first, second), { ".gitignore": "written", "log": "conflict" });
  assert.deepEqual(await workspace.files(), { ".gitignore": "cache\n", "log": "small", "kept/log": "small", "cache": "x" });
});

test("a file that Git's settings outside of the folder excluded in the target state stays", async () => {
  await using workspace = await Workspace.with({ "a.txt": "1", "notes.md": "mine" });
  const exclude = workspace.path(".git/info/exclude");
  await mkdir(dirname(exclude), { recursive: true });
  await writeFile(exclude, "notes.md\n");
  const first = await workspace.take();
  await rm(exclude);
  await workspace.write({ "a.txt": "2", "made.md": "y" });
  const second = await workspace.take();
  assert.deepEqual(await workspace.go(second, first), { "a.txt": "written", "made.md": "deleted" });
  assert.equal((await workspace.files())["notes.md"], "mine");
});

test("what makes programs run is marked, and repositories within are left alone", async () => {
  await using workspace = await Workspace.with({ ".vscode/tasks.json": "{}", "AGENTS.md": "x", "sub/file": "x", "a": "x" });
  const first = await workspace.take();
  await workspace.write({ ".vscode/tasks.json": "{ }", "AGENTS.md": "y", "sub/file": "y", "a": "y" });
  const second = await workspace.take();
  await mkdir(workspace.path("sub/.git"));
  const { steps } = await workspace.snapshots.plan("c", second, first);
  assert.deepEqual(steps.map(({ path, fate, isControl }) => [path, fate, isControl]), [
    [".vscode/tasks.json", "written", true], ["AGENTS.md", "written", true], ["a", "written", false], ["sub/file", "conflict", false],
  ]);
});

test("two states at a time are both recorded", async () => {
  await using workspace = await Workspace.with({ "a": "1" });
  const states = await Promise.all(["one", "two", "three"].map((id) => workspace.snapshots.take(id)));
  assert.equal(new Set(states).size, 1);
  assert.notEqual(states[0], undefined);
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

test("what a turn changed is listed with its lines, and taken back next to the user's own edits", async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at}\n`);
  await using workspace = await Workspace.with({ "a.txt": lines.join(""), "gone.txt": "old\n", "other.txt": "mine\n" });
  const from = await workspace.take();
  await workspace.write({ "a.txt": lines.with(0, "turn\n").join(""), "gone.txt": null, "new.txt": "one\ntwo\n" });
  const to = await workspace.take();
  const changed = await workspace.snapshots.differences(from, to);
  assert.deepEqual(changed.map(({ shown, added, removed }) => [shown, added, removed]), [["a.txt", 1, 1], ["gone.txt", 0, 1], ["new.txt", 2, 0]]);
  assert.deepEqual(await Promise.all(changed.map(async ({ from: read }) => (await read?.())?.toString())), [lines.join(""), "old\n", undefined]);
  await workspace.write({ "a.txt": lines.with(0, "turn\n").with(8, "user\n").join(""), "other.txt": "still mine\n" });
  await workspace.go(to, from);
  assert.deepEqual(await workspace.files(), { "a.txt": lines.with(8, "user\n").join(""), "gone.txt": "old\n", "other.txt": "still mine\n" });
});

test("how two states differ, by file, with the lines and the contents of both sides", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one\n", "old.txt": "x\n", "b.bin": "\u0000\u0001" });
  const from = await workspace.take();
  await workspace.write({ "a.txt": "two\nthree\n", "old.txt": null, "b.bin": "\u0000\u0002", "new.txt": "n\n" });
  const to = await workspace.take();
  await workspace.write({ "a.txt": "later\n" });
  const differences = await workspace.snapshots.differences(from, to);
  assert.deepEqual(differences.map(({ shown, added, removed }) => [shown, added, removed]), [["a.txt", 2, 1], ["b.bin", undefined, undefined], ["new.txt", 1, 0], ["old.txt", 0, 1]]);
  const [changed, , made, gone] = differences;
  assert.ok(changed?.change.from !== undefined && changed.change.to !== undefined);
  assert.equal((await workspace.snapshots.content(changed.folder, changed.change.from)).toString(), "one\n");
  assert.equal((await workspace.snapshots.content(changed.folder, changed.change.to)).toString(), "two\nthree\n");
  assert.deepEqual([made?.change.from, gone?.change.to], [undefined, undefined]);
  assert.deepEqual(await workspace.snapshots.differences(to, to), []);
  await assert.rejects(workspace.snapshots.content("/elsewhere", changed.change.from), /no folder of this workspace/);
});

test("what a branch left in the files, and what of that stays on the disk", async () => {
  const changed = LINES.replace("line 3\n", "three\n");
  await using workspace = await Workspace.with({ "back.txt": "one\n", "gone.txt": "x\n", "merged.txt": LINES, "same.txt": "one\n", "stays.txt": "one\n" });
  const begin = await workspace.take();
  await workspace.write({ "back.txt": "two\nthree\n", "gone.txt": null, "merged.txt": changed, "same.txt": "two\n", "stays.txt": "two\n", "made.bin": "\u0000" });
  const end = await workspace.take();
  const left = async (states: { begin: string; end: string; now: string }, steps: PlacedStep[] = []): Promise<unknown> =>
    Object.fromEntries((await leftFiles(workspace.snapshots, states, steps)).map(({ path, kind, added, removed, onDisk }) => [path, [kind, added, removed, onDisk]]));
  const all = { "back.txt": ["changed", 2, 1, "all"], "gone.txt": ["deleted", 0, 1, "all"], "made.bin": ["created", undefined, undefined, "all"], "merged.txt": ["changed", 1, 1, "all"], "same.txt": ["changed", 1, 1, "all"], "stays.txt": ["changed", 1, 1, "all"] };
  assert.deepEqual(await left({ begin, end, now: end }), all);

  // The other branch has one of the files as this one, and the user has gone on with two.
  await workspace.write({ "same.txt": "two\n", "back.txt": "one\n", "gone.txt": "x\n", "merged.txt": LINES, "stays.txt": "one\n", "made.bin": null });
  const target = await workspace.take();
  await workspace.write({ "same.txt": "two\n", "back.txt": "two\nthree\n", "gone.txt": null, "merged.txt": changed.replace("line 25\n", "mine\n"), "stays.txt": "mine\n", "made.bin": "\u0000" });
  const { steps, now } = await workspace.snapshots.plan("c", end, target);
  assert.deepEqual(await left({ begin, end, now }, steps), { ...all, "back.txt": ["changed", 2, 1, "none"], "gone.txt": ["deleted", 0, 1, "none"], "made.bin": ["created", undefined, undefined, "none"], "merged.txt": ["changed", 1, 1, "part"], "stays.txt": ["changed", 1, 1, "part"] });
  // What the user has taken back is on the disk no longer.
  await workspace.write({ "back.txt": "one\n", "stays.txt": "two\n", "merged.txt": changed });
  assert.deepEqual(await left({ begin, end, now: await workspace.take() }), { ...all, "back.txt": ["changed", 2, 1, "none"] });
});
