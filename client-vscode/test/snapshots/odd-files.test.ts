/** Recorded states where copies are damaged, files are odd, and others write at the same time. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import filesystem, { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mock, test } from "node:test";

import { BranchFiles } from "../../src/chat/branch-files";
import { FileChanges } from "../../src/chat/file-changes";
import { BatchCheck } from "../../src/snapshots/contents";
import { blobId, GitError, HiddenGit } from "../../src/snapshots/git";
import { Workspace } from "./recorded";

/** Packs what is recorded, and damages the copies of some contents. */
async function damageInPack(workspace: Workspace, ...texts: string[]): Promise<void> {
  const repository = join(await workspace.object(""), "..", "..", "..");
  const git = (...given: string[]): string => execFileSync("git", ["--git-dir", repository, ...given], { encoding: "utf8", stdio: "pipe" });
  git("repack", "-a", "-d", "-q");
  const packs = join(repository, "objects", "pack");
  const [name = ""] = (await readdir(packs)).filter((each) => each.endsWith(".pack"));
  const lines = git("verify-pack", "-v", join(packs, name)).split("\n");
  const pack = await readFile(join(packs, name));
  const ids = texts.map((text) => blobId(Buffer.from(text)));
  for (const id of ids) {
    const [, , , length = 0, at = 0] = (lines.find((line) => line.startsWith(id)) ?? "").split(/ +/).map(Number);
    pack.fill(0xff, at + 1, at + length);
  }
  await chmod(join(packs, name), 0o600);
  await writeFile(join(packs, name), pack);
  for (const id of ids) assert.throws(() => git("cat-file", "blob", id));
}

for (const [how, damage] of Object.entries({ empty: (file: string) => truncate(file, 0), cut: (file: string) => truncate(file, 10), gone: (file: string) => rm(file) })) {
  test(`a file whose recorded copy is ${how} is recorded anew before it goes`, async () => {
    await using workspace = await Workspace.with({ "a.txt": "one" });
    const first = await workspace.take();
    const files = { "a.txt": "mine", "made.txt": "mine as well" };
    await workspace.write(files);
    const second = await workspace.take();
    const { steps } = await workspace.snapshots.plan("c", second, first);
    for (const text of Object.values(files)) {
      const object = await workspace.object(text);
      await chmod(object, 0o600);
      await damage(object);
    }
    assert.deepEqual((await workspace.snapshots.write("c", steps)).stayed, []);
    assert.deepEqual(await workspace.files(), { "a.txt": "one" });
    await workspace.go(first, second);
    assert.deepEqual(await workspace.files(), files);
    assert.deepEqual(workspace.warnings, []);
  });
}

test("a file whose recorded copy is damaged in a pack is recorded anew before it goes", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  const first = await workspace.take();
  await workspace.write({ "a.txt": "mine" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  await damageInPack(workspace, "mine");
  assert.deepEqual((await workspace.snapshots.write("c", steps)).stayed, []);
  await workspace.go(first, second);
  assert.deepEqual(await workspace.files(), { "a.txt": "mine" });
  assert.deepEqual(workspace.warnings, []);
});

test("a file stays whose recorded copy cannot be read and cannot be made anew, and so do the records", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  const first = await workspace.take();
  await workspace.write({ "a.txt": "mine" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  const run = HiddenGit.prototype.run.bind(new HiddenGit(join(await workspace.object("mine"), "..", "..", ".."), workspace.path(""), 60_000, () => []));
  const reading = mock.method(HiddenGit.prototype, "run", (...given: Parameters<typeof run>) => (given[0][0] === "cat-file" ? Promise.reject(new GitError("git cat-file: did not end in time")) : run(...given)));
  const writing = mock.method(filesystem, "rename", () => Promise.reject(new Error("The disk is full.")));
  const bytes = (): Promise<Buffer> => Promise.resolve(Buffer.from("one"));
  const { stayed } = await workspace.snapshots.write("c", steps.map((step) => ({ ...step, content: { mode: "100644", bytes } }))).finally(() => {
    reading.mock.restore();
    writing.mock.restore();
  });
  assert.deepEqual(stayed.map(({ path }) => path), ["a.txt"]);
  assert.match(workspace.warnings.join(), /a\.txt was not written.*copy.*cannot be read.*disk is full/);
  assert.deepEqual(await workspace.go(second, first), { "a.txt": "written" });
  assert.deepEqual(await workspace.go(first, second), { "a.txt": "written" });
  assert.deepEqual(await workspace.files(), { "a.txt": "mine" });
});

test("Git reads once for many files that are deleted, and of those that it could not read all come back", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one" });
  const first = await workspace.take();
  const made = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`made/${at}`, `${at}\n`.repeat(at * 100)]));
  await workspace.write(made);
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  await rm(await workspace.object(made["made/20"] ?? ""));
  const object = await workspace.object(made["made/30"] ?? "");
  await chmod(object, 0o600);
  await truncate(object, 30);
  const running = mock.method(HiddenGit.prototype, "run");
  const { stayed } = await workspace.snapshots.write("c", steps).finally(() => { running.mock.restore(); });
  assert.deepEqual(stayed, []);
  assert.equal(running.mock.calls.filter(({ arguments: [given] }) => given[0] === "cat-file").length, 1);
  assert.deepEqual(await workspace.files(), { "a.txt": "one" });
  await workspace.go(first, second);
  assert.deepEqual(await workspace.files(), { "a.txt": "one", ...made });
});

test("a printed batch is checked however it is cut in pieces", () => {
  const contents = ["", "\n", "one\ntwo", "wrong"].map((text) => Buffer.from(text));
  const ids = contents.map(blobId);
  const printed = Buffer.concat(contents.flatMap((bytes, at) => [Buffer.from(`${ids[at] ?? ""} blob ${bytes.length}\n`), at === 3 ? Buffer.from("WRONG") : bytes, Buffer.from(`\n${"1".repeat(40)} missing\n`)]));
  for (let length = 1; length <= printed.length; length += 1) {
    const check = new BatchCheck();
    for (let at = 0; at < printed.length; at += length) check.add(printed.subarray(at, at + length));
    assert.deepEqual([...check.right], ids.slice(0, 3));
  }
});

test("where packing fails, what only a deleted conversation has is deleted, and what was recorded anew is not", async () => {
  await using workspace = await Workspace.with({ "a.txt": "one", "b.txt": "damaged" });
  const first = await workspace.take();
  await workspace.write({ "a.txt": "mine" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  await damageInPack(workspace, "mine", "damaged");
  await workspace.snapshots.write("c", steps);
  await workspace.write({ "a.txt": "another" });
  await workspace.snapshots.take("deleted");
  await workspace.write({ "a.txt": "one" });
  await workspace.take();
  await workspace.snapshots.forget("deleted");
  assert.match(workspace.warnings.join(), /not removed.*git repack/);
  assert.equal(existsSync(await workspace.object("another")), false);
  await workspace.go(first, second);
  assert.equal((await workspace.files())["a.txt"], "mine");
});

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

test("a file that cannot be deleted keeps its name", async () => {
  await using workspace = await Workspace.with({ "a.txt": "x" });
  const first = await workspace.take();
  await workspace.write({ "made": "made" });
  const second = await workspace.take();
  const { steps } = await workspace.snapshots.plan("c", second, first);
  const deleting = mock.method(filesystem, "rm", () => Promise.reject(new Error("EBUSY")));
  const { stayed } = await workspace.snapshots.write("c", steps).finally(() => { deleting.mock.restore(); });
  assert.deepEqual(stayed.map(({ path }) => path), ["made"]);
  assert.deepEqual(await workspace.files(), { "a.txt": "x", "made": "made" });
  assert.match(workspace.warnings.join(), /made was not written.*EBUSY/);
});

for (const hasLinks of [true, false]) {
  test(`what another program saves in place while a file is replaced or made ${hasLinks ? "stays" : "stays as far as that is seen on a disk without hard links"}`, async () => {
    const files = { "gone": "one", "replaced": "one" };
    await using workspace = await Workspace.with(files);
    const first = await workspace.take();
    await workspace.write({ "gone": null, "replaced": "two" });
    const second = await workspace.take();
    const { steps } = await workspace.snapshots.plan("c", second, first);
    const { link, rename } = filesystem;
    const save = async (to: string): Promise<void> => { if (!to.includes(".coppice-")) await writeFile(to, "mine"); };
    const linking = mock.method(filesystem, "link", async (from: string, to: string) => {
      await save(to);
      if (!hasLinks) throw new Error("EPERM");
      await link(from, to);
    });
    const renaming = mock.method(filesystem, "rename", async (from: string, to: string) => {
      if (hasLinks && from.includes(".coppice-") && renaming.mock.callCount() === 0) await save(to);
      await rename(from, to);
    });
    const { stayed } = await workspace.snapshots.write("c", steps).finally(() => {
      linking.mock.restore();
      renaming.mock.restore();
    });
    assert.deepEqual(stayed.map(({ path }) => path), hasLinks ? ["gone", "replaced"] : ["gone"]);
    assert.deepEqual(await workspace.files(), { "gone": "mine", "replaced": hasLinks ? "mine" : "one" });
    assert.deepEqual(workspace.warnings, []);
  });
}

test("what a crash has left beside a file is in no state", async () => {
  await using workspace = await Workspace.with({ "a/b.txt": "x" });
  const first = await workspace.take();
  const left = { [`.coppice-${randomUUID()}`]: "left", [`a/.coppice-${randomUUID()}`]: "left" };
  await workspace.write(left);
  assert.equal(await workspace.take(), first);
  await workspace.write({ ".coppice-rules": "mine" });
  assert.notEqual(await workspace.take(), first);
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
  const memory = { get: (_key: string, usual: unknown) => usual, update: () => Promise.resolve() } as never;
  new BranchFiles(undefined as never, client as never, workspace.snapshots, undefined as never, new FileChanges(memory), undefined as never, memory);
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
