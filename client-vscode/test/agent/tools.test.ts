import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { NOT_RUN } from "../../src/agent/errors";
import { changeOf } from "../../src/agent/file-change";
import { isAbout } from "../../src/permissions/rule";
import { Disk, hasRipgrep } from "./disk";

const FILES = { "shop/src/a.py": "one\ntwo\nthree\n", "outside.txt": "private\n", "shop/.gitignore": "build/\n*.log\n", "shop/build/out.txt": "built\n" };

test("an edit is asked about with its diff, applied, and stored so that it can be taken back", async () => {
  await using disk = await Disk.with(FILES);
  const result = await disk.call("edit_file", { path: "src/a.py", edits: [{ oldText: "two", newText: "zwei" }] });
  assert.equal(result.isError, false);
  assert.equal(await disk.file("shop/src/a.py"), "one\nzwei\nthree\n");
  assert.equal(disk.asked[0]?.title, "Edit src/a.py");
  assert.deepEqual(disk.asked[0].details[0]?.kind, "diff");
  assert.match(changeOf(result.details)?.patch ?? "", /^-two\n\+zwei$/m);
});

test("an edit that the user changes is written as they left it, and the model is told the difference", async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = () => ({ allowed: true, text: "one\nzwo\nthree\n" });
  const result = await disk.call("edit_file", { path: "src/a.py", edits: [{ oldText: "two", newText: "zwei" }] });
  assert.equal(await disk.file("shop/src/a.py"), "one\nzwo\nthree\n");
  assert.match(result.text, /^Changed src\/a\.py\.\nThe user changed your edit before it was applied\.[^]*^-zwei\n\+zwo$/m);
  assert.match(changeOf(result.details)?.patch ?? "", /^-two\n\+zwo$/m);

  disk.answer = () => ({ allowed: true, text: "" });
  const made = await disk.call("write_file", { path: "b.py", content: "long\n".repeat(100_000) });
  assert.equal(await disk.file("shop/b.py"), "");
  assert.match(made.text, /^Created b\.py\.[^]*characters left out/);
  assert.ok(made.text.length < 40_000);
});

test("a refusal is passed on to the model, and nothing is changed", async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = () => ({ allowed: false, reason: "The user did not allow this. The user says: not now" });
  const result = await disk.call("write_file", { path: "src/a.py", content: "" });
  assert.ok(result.isError);
  assert.match(result.text, /not now/);
  assert.equal(await disk.file("shop/src/a.py"), FILES["shop/src/a.py"]);
});

for (const path of ["../outside.txt", "src/../../outside.txt", "/etc/passwd", "link/outside.txt", "file-link", "a\0b", "loop"]) {
  test(`no tool gets at ${JSON.stringify(path)}`, async () => {
    await using disk = await Disk.with(FILES);
    await symlink(disk.root, join(disk.root, "shop/link"));
    await symlink(join(disk.root, "outside.txt"), join(disk.root, "shop/file-link"));
    await symlink("loop", join(disk.root, "shop/loop"));
    const calls = [
      disk.call("read_file", { path }),
      disk.call("write_file", { path, content: "x" }),
      disk.call("edit_file", { path, edits: [{ oldText: "private", newText: "x" }] }),
      disk.call("list_files", { path }),
      disk.call("search", { pattern: "private", path }),
      disk.call("run_command", { command: "true", folder: path }),
    ];
    for (const result of await Promise.all(calls)) {
      assert.ok(result.isError, result.text);
      assert.doesNotMatch(result.text, /private/);
    }
    assert.deepEqual(disk.asked, []);
    assert.equal(await disk.file("outside.txt"), "private\n");
  });
}

test("a pipe is neither read nor waited for, and as .gitignore it has every file asked about", { timeout: 60_000 }, async () => {
  await using disk = await Disk.with({ "shop/a.py": "one\n" });
  execFileSync("mkfifo", [join(disk.root, "shop/pipe"), join(disk.root, "shop/.gitignore")]);
  assert.match((await disk.call("read_file", { path: "pipe" })).text, /no regular file/);
  assert.match((await disk.call("read_file", { path: "a.py" })).text, /one/);
  assert.deepEqual(disk.asked.map(({ scope }) => scope), [null, null]);
});

test("a link to something that does not exist is not written through", async () => {
  await using disk = await Disk.with(FILES);
  await symlink(join(disk.root, "new.txt"), join(disk.root, "shop/new"));
  const result = await disk.call("write_file", { path: "new", content: "x" });
  assert.ok(result.isError);
  await assert.rejects(disk.file("new.txt"));
});

test("a folder that becomes a link out of the workspace during the question is not written into", async () => {
  await using disk = await Disk.with(FILES);
  await mkdir(join(disk.root, "elsewhere"));
  disk.answer = async () => {
    await rm(join(disk.root, "shop/src"), { recursive: true });
    await symlink(join(disk.root, "elsewhere"), join(disk.root, "shop/src"));
    return { allowed: true };
  };
  const result = await disk.call("write_file", { path: "src/new.py", content: "x" });
  assert.ok(result.isError);
  await assert.rejects(disk.file("elsewhere/new.py"));
});

test("a folder that becomes a repository during the question gets no configuration by it", async () => {
  await using disk = await Disk.with({ "shop/r/x": "1" });
  disk.answer = async () => {
    await writeFile(join(disk.root, "shop/r/HEAD"), "ref: refs/heads/main");
    for (const name of ["objects", "refs"]) await mkdir(join(disk.root, "shop/r", name));
    return { allowed: true };
  };
  const result = await disk.call("write_file", { path: "r/config", content: "[core]\nfsmonitor = x\n" });
  assert.match(result.text, /has changed since the edit was proposed/);
  await assert.rejects(disk.file("shop/r/config"));
});

test("a file that changes between the diff and the approval is left as it is", async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = async () => {
    await writeFile(join(disk.root, "shop/src/a.py"), "by somebody else\n");
    return { allowed: true };
  };
  const result = await disk.call("edit_file", { path: "src/a.py", edits: [{ oldText: "two", newText: "zwei" }] });
  assert.match(result.text, /has changed since the edit was proposed/);
  assert.equal(await disk.file("shop/src/a.py"), "by somebody else\n");
});

test("what may hold credentials, is ignored or makes programs run is asked about each time", async () => {
  await using disk = await Disk.with({ ...FILES, "shop/.env": "KEY=1\n", "shop/debug.log": "x\n", "shop/keys/id_rsa": "x", "shop/.env.example": "KEY=\n" });
  disk.settings = { ...disk.settings, policy: "never" };
  for (const path of [".env", "debug.log", "build/out.txt", "keys/id_rsa", ".ENV.local"]) await disk.call("read_file", { path });
  assert.deepEqual(disk.asked.map(({ title, scope }) => [title, scope]), [".env", "debug.log", "build/out.txt", "keys/id_rsa", ".ENV.local"].map((path) => [`Read ${path}`, null]));
  for (const path of ["src/a.py", ".env.example"]) await disk.call("read_file", { path });
  assert.equal(disk.asked.length, 5);
  await disk.call("write_file", { path: ".vscode/tasks.json", content: "{}" });
  assert.equal(disk.asked.at(-1)?.scope, null);
});

test("a refused secret is not read", async () => {
  await using disk = await Disk.with({ "shop/.env": "KEY=1\n" });
  disk.answer = () => ({ allowed: false, reason: "No." });
  const result = await disk.call("read_file", { path: ".env" });
  assert.equal(result.text, "No.");
});

test("a workspace that is not trusted is only read", async () => {
  await using disk = await Disk.with(FILES);
  disk.isTrusted = false;
  assert.deepEqual(disk.agent.offered("c").map(({ name }) => name), ["read_file", "list_files", "search"]);
  const result = await disk.call("run_command", { command: "touch made" });
  assert.match(result.text, /not trusted/);
  assert.deepEqual(result.details, NOT_RUN);
  await assert.rejects(disk.file("shop/made"));
});

test("calls of one reply run in their order", async () => {
  await using disk = await Disk.with(FILES);
  const calls = ["1", "2", "3"].map((content) => disk.call("write_file", { path: "n", content }));
  const read = disk.call("read_file", { path: "n" });
  await Promise.all(calls);
  assert.equal((await read).text, "3");
});

test("wrong arguments are an answer that names them", async () => {
  await using disk = await Disk.with(FILES);
  for (const given of [{}, { path: 7 }, { path: "src/a.py", offset: 0 }, { path: "src/a.py", offset: "x" }]) {
    const result = await disk.call("read_file", given);
    assert.ok(result.isError);
    assert.match(result.text, /path|offset/);
    assert.deepEqual(result.details, NOT_RUN);
  }
});

test("of several folders each is found by its name", async () => {
  await using disk = await Disk.with({ "shop/x": "in shop", "api/x": "in api" }, ["shop", "api"]);
  assert.equal((await disk.call("read_file", { path: "api/x" })).text, "in api");
  assert.equal((await disk.call("read_file", { path: "x" })).text, "in shop");
});

test("a long file is read in pieces", async () => {
  await using disk = await Disk.with({ "shop/long": Array.from({ length: 5000 }, (_, at) => `line ${at + 1}\n`).join("") });
  const first = await disk.call("read_file", { path: "long" });
  assert.match(first.text, /Lines 1 to 2000 of 5000. Read on with offset 2001/);
  const last = await disk.call("read_file", { path: "long", offset: 4999 });
  assert.equal(last.text, "line 4999\nline 5000");
  const one = await Disk.with({ "shop/wide": "x".repeat(9_000_000) });
  assert.ok((await one.call("read_file", { path: "wide" })).text.length < 70_000);
  await one[Symbol.asyncDispose]();
});

test("a search finds text, and not what is ignored or secret", { skip: !hasRipgrep && "there is no ripgrep" }, async () => {
  await using disk = await Disk.with({ ...FILES, "shop/.env": "two=1\n", "shop/.git/config": "two\n", "shop/build/two": "two\n" });
  assert.equal((await disk.call("search", { pattern: "t.o$" })).text, "src/a.py:2:two");
  assert.equal((await disk.call("search", { pattern: "two", glob: ".env" })).text, "Nothing was found.");
  disk.answer = () => ({ allowed: false, reason: "No." });
  assert.equal((await disk.call("search", { pattern: "two", path: ".env" })).text, "No.");
  assert.equal((await disk.call("search", { pattern: "--pre=touch made" })).text, "Nothing was found.");
  assert.ok((await disk.call("search", { pattern: "(" })).isError);
  assert.equal((await disk.call("search", { pattern: "(a+)+$" })).text, "Nothing was found.");
});

test("files are listed without what is ignored", { skip: !hasRipgrep && "there is no ripgrep" }, async () => {
  await using disk = await Disk.with(FILES);
  assert.equal((await disk.call("list_files", {})).text, ".gitignore\nsrc/a.py");
  assert.equal((await disk.call("list_files", { path: "src", glob: "*.ts" })).text, "No files.");
});

test("of two folders of one name the second is named by its path, so that no rule about the first is about it", async () => {
  await using disk = await Disk.with({ "one/app/x": "first", "two/app/x": "second" }, ["one/app", "two/app"]);
  const second = join(disk.root, "two/app/x");
  const folder = await realpath(join(disk.root, "one/app"));
  const written = async (path: string): Promise<string | undefined> => {
    await disk.call("write_file", { path, content: "new" });
    const request = disk.asked.at(-1);
    for (const name of ["", "x"]) assert.equal(request !== undefined && isAbout({ effect: "allow", tool: "edit_file", path: `app/${name}`, place: { folder, path: name } }, request), path === "app/x", name);
    return JSON.stringify(request).includes(JSON.stringify(second)) ? second : "app/x";
  };
  assert.deepEqual([await written("app/x"), await written(second)], ["app/x", second]);
  assert.deepEqual([await disk.file("one/app/x"), await disk.file("two/app/x")], ["new", "new"]);
});
