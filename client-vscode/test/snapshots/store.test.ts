import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mock, test } from "node:test";

import { blobId, GitError, HiddenGit } from "../../src/snapshots/git";
import { isLeftOut, type Limits, SnapshotStore } from "../../src/snapshots/store";

const LIMITS: Limits = { file: 100_000, added: 1_000_000, files: 1000, time: 60_000 };

class Place {
  readonly folder: string;
  readonly store: SnapshotStore;

  private constructor(readonly root: string, limits: Partial<Limits>) {
    this.folder = join(root, "shop");
    this.store = new SnapshotStore(join(root, "storage"), this.folder, { ...LIMITS, ...limits });
  }

  static async with(files: Record<string, string | Buffer>, limits: Partial<Limits> = {}): Promise<Place> {
    const place = new Place(await realpath(await mkdtemp(join(tmpdir(), "coppice-snapshots-"))), limits);
    await mkdir(place.folder);
    for (const [path, text] of Object.entries(files)) await place.write(path, text);
    return place;
  }

  path(path: string): string {
    return join(this.folder, path);
  }

  async write(path: string, text: string | Buffer): Promise<void> {
    await mkdir(dirname(this.path(path)), { recursive: true });
    await writeFile(this.path(path), text);
  }

  /** The names that a snapshot holds. */
  async names(snapshot: string): Promise<string[]> {
    return (await this.store.differences(this.git("hash-object", "-w", "-t", "tree", "/dev/null").trim(), snapshot)).map(({ path }) => path);
  }

  /** What a snapshot has of a file. */
  async read(snapshot: string, path: string): Promise<{ mode: string; bytes: Buffer } | undefined> {
    const file = (await this.store.changes(this.git("hash-object", "-w", "-t", "tree", "/dev/null").trim(), snapshot)).get(path)?.to;
    return file && { mode: file.mode, bytes: await this.store.content(file) };
  }

  git(...given: string[]): string {
    return execFileSync("git", ["--git-dir", this.repository, ...given], { encoding: "utf8" });
  }

  get repository(): string {
    const [name = ""] = execFileSync("ls", [join(this.root, "storage")], { encoding: "utf8" }).split("\n");
    return join(this.root, "storage", name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

test("the same state is the same snapshot, and differences are counted in lines", async () => {
  await using place = await Place.with({ "a.txt": "1\n2\n", "b.bin": Buffer.from([0, 1, 255]) });
  const first = await place.store.take("c");
  assert.equal(await place.store.take("c"), first);
  await place.write("a.txt", "1\nthree\nfour\n");
  await place.write("b.bin", Buffer.from([0, 2]));
  await place.write("new\nname\t.txt", "x\n");
  const second = await place.store.take("c");
  assert.deepEqual(await place.store.differences(first, second), [
    { path: "a.txt", added: 2, removed: 1 },
    { path: "b.bin", added: undefined, removed: undefined },
    { path: "new\nname\t.txt", added: 1, removed: 0 },
  ]);
  assert.deepEqual((await place.read(first, "b.bin"))?.bytes, Buffer.from([0, 1, 255]));
  assert.equal((await place.read(second, "new\nname\t.txt"))?.bytes.toString(), "x\n");
  assert.equal(await place.read(first, "new\nname\t.txt"), undefined);
  await assert.rejects(place.store.changes("--help", first), GitError);
});

test("ignored, secret and large files are left out, also those that were recorded before", async () => {
  await using place = await Place.with({
    ".gitignore": "build/\n", "build/out": "x", ".env": "SECRET=1\n", "deploy/.ssh/config": "x", "id_rsa": "x", "a": "x", "b": "x", "git~1": "x", "sub/.GIT ": "x", "sub/.g\u200cit/x": "x",
  });
  await place.write("large", "");
  await truncate(place.path("large"), 2 ** 31);
  assert.deepEqual(await place.names(await place.store.take("c")), [".gitignore", "a", "b", "large"]);
  await place.write(".gitignore", "a\n");
  await truncate(place.path("b"), LIMITS.file + 1);
  assert.deepEqual(await place.names(await place.store.take("c")), [".gitignore", "b", "build/out", "large"]);
  assert.deepEqual([...(await place.store.files(await place.store.take("c")))].filter(([, file]) => isLeftOut(file)).map(([path]) => path), ["b", "large"]);
  assert.equal(await readFile(place.path(".env"), "utf8"), "SECRET=1\n");
});

test("what the repository around the folder excludes is left out", async () => {
  await using place = await Place.with({ "dist/a": "x", "logs/b": "x", "own.tmp": "x", "keep": "x", "deep/logs/c": "x", "there": "x", "vendor/x": "x" });
  execFileSync("git", ["init", "-q", place.root]);
  await writeFile(join(place.root, ".git", "info", "exclude"), "/shop/own.tmp\nother/keep\n");
  await writeFile(join(place.root, ".gitignore"), "# rules\n/sh*/dist/\nlogs/\n!keep\n/keep\n/other/there\n**/vendor\n");
  assert.deepEqual(await place.names(await place.store.take("c")), ["keep", "there"]);
});

test("nothing is recorded where a file around the folder is too long to say what it excludes", async () => {
  await using place = await Place.with({ "a": "x" });
  execFileSync("git", ["init", "-q", place.root]);
  await writeFile(join(place.root, ".gitignore"), `${"# x\n".repeat(20_000)}a\n`);
  await assert.rejects(place.store.take("c"), /\.gitignore cannot be read, or is too long/);
});

test("attributes and settings of a checkout run nothing and change no byte", async () => {
  const text = "\ufeffa\r\n$Id$\nb\n";
  await using place = await Place.with({ "a.txt": text, ".gitattributes": "* text eol=lf ident filter=evil working-tree-encoding=UTF-16\n" });
  const evil = `touch ${join(place.root, "ran")}; cat`;
  const git = (...given: string[]) => execFileSync("git", ["-C", place.folder, ...given]);
  git("init", "-q");
  for (const name of ["filter.evil.clean", "filter.evil.process", "core.fsmonitor"]) git("config", name, evil);
  const state = () => execFileSync("sh", ["-c", "find .git -type f | sort | xargs sha256sum"], { cwd: place.folder, encoding: "utf8" });
  const before = state();
  for (const name of ["pre-commit", "post-index-change", "reference-transaction"]) {
    await place.write(`.git/hooks/${name}`, `#!/bin/sh\n${evil}\n`);
    execFileSync("chmod", ["+x", place.path(`.git/hooks/${name}`)]);
    await place.write(`hooks/${name}`, "x");
  }
  const withHooks = state();
  assert.notEqual(withHooks, before);
  const snapshot = await place.store.take("c");
  assert.equal((await place.read(snapshot, "a.txt"))?.bytes.toString(), text);
  assert.equal(existsSync(join(place.root, "ran")), false);
  assert.equal(state(), withHooks);
  assert.ok((await place.names(snapshot)).every((name) => !name.startsWith(".git/")));
});

test("links are links, and repositories and checkouts within are left alone", async () => {
  await using place = await Place.with({ "a": "x" });
  await writeFile(join(place.root, "outside"), "theirs");
  await symlink("../outside", place.path("link"));
  await symlink("..", place.path("up"));
  for (const name of ["HEAD", "config"]) await place.write(`cache.git/${name}`, "x");
  await mkdir(place.path("inner"));
  execFileSync("git", ["-C", place.path("inner"), "init", "-q"]);
  await place.write("inner/file", "x");
  const snapshot = await place.store.take("c");
  assert.deepEqual(await place.names(snapshot), ["a", "link", "up"]);
  const link = await place.read(snapshot, "link");
  assert.deepEqual([link?.mode, link?.bytes.toString()], ["120000", "../outside"]);
});

test("a file that becomes a folder and a folder that becomes a link are recorded", async () => {
  await using place = await Place.with({ "a": "x", "b/inside": "y" });
  const first = await place.store.take("c");
  await rm(place.path("a"));
  await place.write("a/inside", "z");
  await rm(place.path("b"), { recursive: true });
  await symlink("a", place.path("b"));
  assert.deepEqual(await place.names(await place.store.take("c")), ["a/inside", "b"]);
  assert.equal((await place.read(first, "b/inside"))?.bytes.toString(), "y");
});

test("the variables of a shell that Git started do not lead elsewhere", async () => {
  await using place = await Place.with({ "a": "x" });
  const variables = { GIT_INDEX_FILE: join(place.root, "theirs"), GIT_OBJECT_DIRECTORY: join(place.root, "objects"), GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.worktree", GIT_CONFIG_VALUE_0: "/" };
  Object.assign(process.env, variables);
  let snapshot: string;
  try {
    snapshot = await new SnapshotStore(join(place.root, "storage"), place.folder, LIMITS).take("c");
  } finally {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
  }
  assert.equal((await place.read(snapshot, "a"))?.bytes.toString(), "x");
  assert.deepEqual((await readdir(place.root)).sort(), ["shop", "storage"]);
});

test("files that vanish while they are recorded are left out of the snapshot", async () => {
  await using place = await Place.with({ "kept.txt": "1\n", "old.txt": "1\n" });
  await place.store.take("c");
  await place.write("old.txt", "2\n");
  await place.write("new/new.txt", "1\n");
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object below
  const run = HiddenGit.prototype.run;
  const recording = mock.method(HiddenGit.prototype, "run", async function (this: HiddenGit, ...given: Parameters<HiddenGit["run"]>) {
    if (given[0].includes("--add")) for (const path of ["old.txt", "new"]) await rm(place.path(path), { recursive: true });
    return run.apply(this, given);
  });
  const snapshot = await place.store.take("c").finally(() => { recording.mock.restore(); });
  assert.deepEqual(await place.names(snapshot), ["kept.txt"]);
});

test("too many and too large changes give no snapshot, and leave the next one possible", async () => {
  await using place = await Place.with({ "a": "x".repeat(90), "b": "x".repeat(90) }, { added: 100 });
  await assert.rejects(place.store.take("c"), /Too much/);
  await rm(place.path("b"));
  assert.deepEqual(await place.names(await place.store.take("c")), ["a"]);
});

test("the lock of a killed command is taken away once no command can hold it", async () => {
  await using place = await Place.with({ "a": "x" });
  await place.store.take("c");
  const lock = join(place.repository, "index.lock");
  await writeFile(lock, "");
  await place.write("b", "x");
  await assert.rejects(place.store.take("c"), GitError);
  await utimes(lock, 0, 0);
  assert.deepEqual(await place.names(await place.store.take("c")), ["a", "b"]);
});

test("the locks of a repository that was killed while it was made go", async () => {
  await using place = await Place.with({ "a": "x" });
  const first = await place.store.take("c");
  const locks = ["config.lock", "HEAD.lock", "packed-refs.lock"].map((name) => join(place.repository, name));
  for (const lock of locks) await writeFile(lock, "");
  const store = new SnapshotStore(join(place.root, "storage"), place.folder, LIMITS);
  await assert.rejects(store.take("c"), GitError);
  for (const lock of locks) await utimes(lock, 0, 0);
  assert.equal(await store.take("c"), first);
  assert.deepEqual((await readdir(place.repository)).filter((name) => name.endsWith(".lock")), []);
});

test("the locks of references that a kill left go, and an index that it spoilt is made again", async () => {
  await using place = await Place.with({ "a": "x" });
  const first = await place.store.take("c");
  const [reference = ""] = place.git("for-each-ref", "--format=%(refname)").trim().split("\n");
  await rm(join(place.repository, reference));
  const store = new SnapshotStore(join(place.root, "storage"), place.folder, LIMITS);
  await writeFile(join(place.repository, `${reference}.lock`), "");
  await utimes(join(place.repository, `${reference}.lock`), 0, 0);
  assert.equal(await store.take("c"), first);
  await truncate(join(place.repository, "index"), 20);
  assert.equal(await new SnapshotStore(join(place.root, "storage"), place.folder, LIMITS).take("c"), first);
});

const BROKEN: Record<string, (place: Place, object: string) => Promise<void>> = {
  "a content": (_, object) => rm(object),
  "every content": ({ repository }) => rm(join(repository, "objects"), { recursive: true }),
  "HEAD": ({ repository }) => writeFile(join(repository, "HEAD"), Buffer.alloc(21)),
  "the settings": ({ repository }) => writeFile(join(repository, "config"), "[core\nx"),
};
for (const [what, spoil] of Object.entries(BROKEN)) {
  test(`states are recorded again where a crash spoilt ${what}`, async () => {
    await using place = await Place.with({ "a": "one", "b": "two" });
    const first = await place.store.take("c");
    const id = blobId(Buffer.from("two"));
    await spoil(place, join(place.repository, "objects", id.slice(0, 2), id.slice(2)));
    const store = new SnapshotStore(join(place.root, "storage"), place.folder, LIMITS);
    await place.write("a", "three");
    assert.notEqual(await store.take("c"), first);
    await place.write("a", "one");
    assert.equal(await store.take("c"), first);
    assert.equal((await store.content({ mode: "100644", id })).toString(), "two");
  });
}

test("a file that was too large and becomes a folder is recorded with what is in it", async () => {
  await using place = await Place.with({ "a": "x", "large": "x".repeat(LIMITS.file + 1) });
  await place.store.take("c");
  await rm(place.path("large"));
  await place.write("large/in", "one");
  const first = await place.store.take("c");
  assert.deepEqual(await place.names(first), ["a", "large/in"]);
  await place.write("large/in", "two");
  assert.deepEqual(await place.store.differences(first, await place.store.take("c")), [{ path: "large/in", added: 1, removed: 1 }]);
  await rm(place.path("large"), { recursive: true });
  await place.write("large", "x".repeat(LIMITS.file + 1));
  assert.deepEqual(await place.names(await place.store.take("c")), ["a", "large"]);
});

test("what only a forgotten conversation has is deleted", async () => {
  await using place = await Place.with({ "a": "one" });
  const shared = await place.store.take("first");
  await place.store.take("second");
  await place.write("a", "two");
  const own = await place.store.take("first");
  await place.write("a", "three");
  const last = await place.store.take("second");
  await place.store.forget(["first"]);
  await assert.rejects(place.read(own, "a"), GitError);
  assert.equal((await place.read(shared, "a"))?.bytes.toString(), "one");
  assert.equal((await place.read(last, "a"))?.bytes.toString(), "three");
});

test("where neither packing nor pruning succeeds, the error has why of both", async () => {
  await using place = await Place.with({ "a": "one" });
  await place.store.take("c");
  const run = HiddenGit.prototype.run.bind(new HiddenGit(place.repository, place.folder, LIMITS.time, () => []));
  const running = mock.method(HiddenGit.prototype, "run", (...given: Parameters<typeof run>) => {
    const [name = ""] = given[0];
    return ["repack", "prune"].includes(name) ? Promise.reject(new GitError(`No ${name}.`)) : run(...given);
  });
  await assert.rejects(place.store.forget(["c"]).finally(() => { running.mock.restore(); }), /No repack\..*No prune\./);
});

test("states are recorded after a conversation was forgotten, with what is excluded from outside", async () => {
  await using place = await Place.with({ "a": "x" });
  execFileSync("git", ["init", "-q", place.root]);
  await writeFile(join(place.root, ".gitignore"), "*.log\n");
  await place.store.readAhead();
  for (const name of ["first", "second", "third"]) {
    const snapshot = await place.store.take(name);
    assert.deepEqual(await place.store.excludes(snapshot), ["*.log\n"]);
    await place.store.forget([name]);
    assert.deepEqual(await place.store.excludes(snapshot), []);
  }
});

test("many new files go into one pack, as they are, and out of it with the conversation that has them", async () => {
  const files = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`d${at % 7}/f${at}.txt`, at === 0 ? "" : `\u0000${at}\r\n`.repeat(1 + (at % 90))]));
  await using place = await Place.with(files);
  await symlink("d0", place.path("link"));
  const many = await place.store.take("first");
  assert.equal((await readdir(join(place.repository, "objects", "pack"))).filter((name) => name.endsWith(".pack")).length, 1);
  for (const [path, text] of Object.entries(files)) if (Number(/\d+(?=\.)/.exec(path)?.[0]) % 97 === 0) assert.equal((await place.read(many, path))?.bytes.toString(), text);
  // Its content is text for everything else that Git does.
  await place.write("d1/f1.txt", "one\ntwo\n");
  const later = await place.store.take("second");
  await place.write("d1/f1.txt", "one\n");
  assert.deepEqual(await place.store.differences(later, await place.store.take("second")), [{ path: "d1/f1.txt", added: 0, removed: 1 }]);
  for (const path of Object.keys(files)) await rm(place.path(path));
  await place.store.take("third");
  const largest = (await place.store.files(many)).get("d4/f599.txt") ?? { mode: "", id: "" };
  await place.store.forget(["second"]);
  assert.equal((await place.store.content(largest)).toString(), files["d4/f599.txt"]);
  await place.store.forget(["first"]);
  await assert.rejects(place.store.content(largest), GitError);
});

test("what was read ahead costs the first snapshot nothing, and belongs to no conversation", async () => {
  await using place = await Place.with({ "a": "one", "b": "two" });
  await place.store.readAhead();
  assert.equal(place.git("for-each-ref"), "");
  assert.deepEqual(place.git("ls-files").trim().split("\n"), ["a", "b"]);
  await place.write("b", "three");
  assert.deepEqual((await place.read(await place.store.take("c"), "b"))?.bytes.toString(), "three");
});
