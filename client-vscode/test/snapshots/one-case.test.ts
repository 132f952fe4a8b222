/** States of a folder in which names that differ in case alone are the same, as on Windows and macOS. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { ignoresCase } from "../../src/snapshots/case";
import { digest } from "../../src/snapshots/references";
import { type OneCaseDisk, oneCaseDisk } from "./one-case";
import { Workspace } from "./recorded";

let disk: OneCaseDisk | string;
before(async () => { disk = await oneCaseDisk(); });
after(async () => { if (typeof disk !== "string") await disk.remove(); });

/** A test of a workspace on such a disk. */
function testThere(name: string, files: Record<string, string>, play: (workspace: Workspace) => Promise<void>): void {
  test(name, async (context) => {
    if (typeof disk === "string") {
      context.skip(disk);
      return;
    }
    await using workspace = await Workspace.with(files, ["shop"], disk.folder);
    await play(workspace);
    assert.deepEqual(workspace.warnings, []);
  });
}

/** A state of the folder as another system has recorded it, where names differ by case. */
function recordedElsewhere(workspace: Workspace, files: Record<string, string>): string {
  const key = digest(workspace.path(""));
  const git = (input: string, ...given: string[]): string => execFileSync("git", ["--git-dir", join(workspace.root, "storage", `${key}.git`), ...given], { input, encoding: "utf8" }).trim();
  const lines = Object.entries(files).map(([name, text]) => `100644 blob ${git(text, "hash-object", "-w", "--stdin")}\t${name}\n`);
  return `${key}:${git(lines.join(""), "mktree")}`;
}

testThere("whether a folder ignores case is seen by the names in it", { "a.txt": "1" }, async (workspace) => {
  assert.equal(await ignoresCase(workspace.path("")), true);
  assert.equal(await ignoresCase(workspace.path("nowhere")), false);
});

testThere("letters whose upper case is longer do not hide that a folder ignores case", { "straße": "1" }, async (workspace) => {
  assert.equal(await ignoresCase(workspace.path("")), true);
});

testThere("branches whose file differs in the case of its name are switched, back and forth", { "Readme.md": "one\n", "Sub/a.txt": "a\n" }, async (workspace) => {
  const first = await workspace.take();
  await workspace.write({ "Readme.md": null });
  await rm(workspace.path("Sub"), { recursive: true });
  await workspace.write({ "README.md": "two\n", "sub/A.txt": "b\n" });
  const second = await workspace.take();
  assert.notEqual(second, first);
  for (let times = 0; times < 2; times += 1) {
    assert.deepEqual(await workspace.go(second, first), { "README.md": "deleted", "sub/A.txt": "deleted", "Readme.md": "written", "Sub/a.txt": "written" });
    assert.deepEqual(await workspace.files(), { "Readme.md": "one\n", "Sub/a.txt": "a\n" });
    assert.equal(await workspace.take(), first);
    await workspace.go(first, second);
    assert.deepEqual(await workspace.files(), { "README.md": "two\n", "sub/A.txt": "b\n" });
    assert.equal(await workspace.take(), second);
  }
});

testThere("a name of which the case alone was changed is recorded as it is now, once, and what is ignored stays so", { "Readme.md": "one\n", "lib/a.txt": "a\n", "build/out": "ignored", ".gitignore": "Build/\n" }, async (workspace) => {
  const first = await workspace.take();
  await rename(workspace.path("Readme.md"), workspace.path("README.md"));
  await rename(workspace.path("lib"), workspace.path("Lib"));
  const second = await workspace.take();
  const changed = await workspace.snapshots.differences(first, second);
  assert.deepEqual(changed.map(({ shown, change }) => [shown, change.to !== undefined]), [["Lib/a.txt", true], ["README.md", true], ["Readme.md", false], ["lib/a.txt", false]]);
  await workspace.go(second, first);
  assert.deepEqual(await workspace.files(), { ".gitignore": "Build/\n", "Readme.md": "one\n", "build/out": "ignored", "lib/a.txt": "a\n" });
  // The user renames it, and the branches differ in something else: nothing of it is touched.
  await workspace.write({ "other.txt": "x" });
  const third = await workspace.take();
  await rename(workspace.path("Readme.md"), workspace.path("README.md"));
  assert.deepEqual(await workspace.go(third, first), { "other.txt": "deleted" });
  assert.equal((await workspace.files())["README.md"], "one\n");
});

testThere("of two names of a state that are one here, the second is a conflict, and neither loses what is there", { "a.txt": "1" }, async (workspace) => {
  const empty = await workspace.take();
  const both = recordedElsewhere(workspace, { "README": "upper", "Readme": "lower", "a.txt": "1" });
  assert.deepEqual(await workspace.go(empty, both), { "README": "written", "Readme": "conflict" });
  assert.deepEqual(await workspace.files(), { "README": "upper", "a.txt": "1" });
  assert.deepEqual(await workspace.go(both, empty), { "README": "deleted" });

  // One of them is here: it stays what it is.
  await workspace.write({ "Readme": "mine" });
  assert.deepEqual(await workspace.go(empty, both), { "README": "conflict", "Readme": "conflict" });
  // It is what the state to come has under the other name.
  await workspace.write({ "Readme": null, "README": "upper" });
  const lower = recordedElsewhere(workspace, { "Readme": "lower", "a.txt": "1" });
  assert.deepEqual(await workspace.go(both, lower), { "README": "conflict" });
  assert.equal((await workspace.files())["README"], "upper");
});

testThere("a file with a name that a folder of the other branch has in another case takes its place", { "Place": "file\n", "a.txt": "1" }, async (workspace) => {
  const first = await workspace.take();
  await workspace.write({ "Place": null, "place/in": "in\n" });
  const second = await workspace.take();
  await workspace.go(second, first);
  assert.deepEqual(await workspace.files(), { "Place": "file\n", "a.txt": "1" });
  await workspace.go(first, second);
  assert.deepEqual(await workspace.files(), { "a.txt": "1", "place/in": "in\n" });
  // A file of the user's in the folder keeps it, and the file in it that goes is in the state before.
  await workspace.write({ "place/own": "mine" });
  assert.deepEqual(await workspace.go(second, first), { "Place": "conflict", "place/in": "deleted" });
  assert.equal((await workspace.files())["place/own"], "mine");
});

testThere("an unsaved file keeps its place from one whose name differs in case", { "Readme": "one" }, async (workspace) => {
  const first = await workspace.take();
  await workspace.write({ "Readme": null, "README": "two" });
  const second = await workspace.take();
  workspace.unsaved.add(workspace.path("README"));
  assert.deepEqual(await workspace.go(second, first), { "README": "conflict", "Readme": "conflict" });
  assert.deepEqual(await workspace.files(), { "README": "two" });
});
