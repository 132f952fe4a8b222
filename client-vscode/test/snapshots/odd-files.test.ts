/** Recorded states where copies are damaged, files are odd, and others write at the same time. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import filesystem, { chmod, lstat, mkdir, readlink, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { mock, test } from "node:test";

import { BranchFiles } from "../../src/chat/branch-files";
import { Workspace } from "./recorded";

for (const [how, damage] of Object.entries({ empty: (file: string) => truncate(file, 0), cut: (file: string) => truncate(file, 10), gone: (file: string) => rm(file) })) {
  test(`a file whose recorded copy is ${how} stays until there is another one`, async () => {
    await using workspace = await Workspace.with({ "a.txt": "one" });
    const first = await workspace.take();
    const files = { "a.txt": "mine", "made.txt": "mine as well" };
    await workspace.write(files);
    const second = await workspace.take();
    for (const text of Object.values(files)) {
      const object = await workspace.object(text);
      await chmod(object, 0o600);
      await damage(object);
    }
    workspace.snapshots = workspace.open();
    const { steps } = await workspace.snapshots.plan("c", second, first);
    assert.equal((await workspace.snapshots.write("c", steps)).stayed.length, 2);
    assert.deepEqual(await workspace.files(), files);
    assert.match(workspace.warnings.join(), /a\.txt was not written.*damaged/);
    await workspace.go(second, first);
    assert.deepEqual(await workspace.files(), { "a.txt": "one" });
    await workspace.go(first, second);
    assert.deepEqual(await workspace.files(), files);
  });
}

test("a file that became a pipe or grew stays, and is not read", async () => {
  await using workspace = await Workspace.with({ "grown": "one", "pipe": "one" });
  const first = await workspace.take();
  await workspace.write({ "grown": "two", "pipe": "two" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  await truncate(workspace.path("grown"), 2 ** 40);
  await rm(workspace.path("pipe"));
  execFileSync("mkfifo", [workspace.path("pipe")]);
  const writer = spawn("sh", ["-c", `printf two >'${workspace.path("pipe")}'`], { stdio: "ignore" });
  const { stayed } = await workspace.snapshots.write("c", steps).finally(() => writer.kill("SIGKILL"));
  assert.deepEqual(stayed.map(({ path }) => path), ["grown", "pipe"]);
  assert.equal((await lstat(workspace.path("pipe"))).isFIFO(), true);
  assert.deepEqual(workspace.warnings, []);
});

test("what another program saves while a file is deleted stays", async () => {
  await using workspace = await Workspace.with({ "a.txt": "x" });
  const first = await workspace.take();
  await workspace.write({ "once": "made", "twice": "made" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  const { rename } = filesystem;
  const renaming = mock.method(filesystem, "rename", async (from: string, to: string) => {
    const isTaken = to.includes(".coppice-");
    if (isTaken) await writeFile(from, "mine");
    await rename(from, to);
    if (isTaken && from.endsWith("twice")) await writeFile(from, "mine, again");
  });
  const { stayed } = await workspace.snapshots.write("c", steps).finally(() => { renaming.mock.restore(); });
  assert.deepEqual(stayed.map(({ path }) => path), ["once", "twice"]);
  const { "a.txt": other, once, twice, ...rest } = await workspace.files();
  assert.deepEqual([other, once, twice, Object.values(rest)], ["x", "mine", "mine, again", ["mine"]]);
  assert.match(workspace.warnings.join(), /twice was not written.*what it had first is in .*\.coppice-/);
});

test("a link comes back byte for byte", async () => {
  await using workspace = await Workspace.with({ "a.txt": "x" });
  const target = Buffer.from([0x74, 0xff, 0xfe]);
  await symlink(target, workspace.path("link"));
  const first = await workspace.take();
  await rm(workspace.path("link"));
  const second = await workspace.take();
  await workspace.go(second, first);
  assert.deepEqual(await readlink(workspace.path("link"), { encoding: "buffer" }), target);
  assert.deepEqual(await workspace.go(first, second), { link: "deleted" });
  assert.deepEqual(await workspace.files(), { "a.txt": "x" });
});

test("a fork keeps the states that its entries name when the original and a fork between are deleted", async () => {
  await using workspace = await Workspace.with({ "a": "1" });
  await mkdir(workspace.path(".git/info"), { recursive: true });
  await writeFile(workspace.path(".git/info/exclude"), "notes\n");
  const listeners: Record<string, (params: object) => void> = {};
  const client = { onNotification: (name: string, listener: (params: object) => void) => { listeners[name] = listener; } };
  new BranchFiles(undefined as never, client as never, workspace.snapshots, undefined as never, undefined as never, undefined as never);
  const first = await workspace.take();
  listeners["coppice/didFork"]?.({ conversationId: "c", forkId: "between" });
  listeners["coppice/didFork"]?.({ conversationId: "between", forkId: "fork" });
  for (const conversationId of ["c", "between"]) listeners["coppice/conversationChanged"]?.({ conversationId, changes: ["deleted"] });
  await workspace.write({ "a": "2", "notes": "mine" });
  await rm(workspace.path(".git/info/exclude"));
  const now = (await workspace.snapshots.take("fork")) ?? "";
  assert.deepEqual(await workspace.go(now, first), { a: "written" });
  assert.deepEqual([(await workspace.files())["a"], (await workspace.files())["notes"]], ["1", "mine"]);
  assert.deepEqual(workspace.warnings, []);
  listeners["coppice/conversationChanged"]?.({ conversationId: "fork", changes: ["deleted"] });
  await workspace.snapshots.take("other");
  await assert.rejects(workspace.snapshots.plan("other", first, now), /git/);
});
