/** Undo writes what a conversation says, which may come from anywhere. */
import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { fileChangeOf } from "../../src/agent/change";
import { changeOf } from "../../src/agent/file-change";
import { undo, type UndoHost } from "../../src/agent/undo";
import { Disk } from "./disk";

class Person {
  readonly questions: string[] = [];
  answer: () => string | undefined | Promise<string | undefined> = () => undefined;

  host(disk: Disk): UndoHost {
    return {
      folders: disk.folders,
      made: disk.made,
      read: (path) => disk.read(path),
      write: (path, text) => disk.write(path, text),
      remove: (path) => rm(path),
      confirm: async (_, detail) => {
        this.questions.push(detail);
        return this.answer();
      },
    };
  }
}

test("an edit that a tool made here is undone without a question", async () => {
  await using disk = await Disk.with({ "shop/a.py": "one\n" });
  const person = new Person();
  const change = changeOf((await disk.call("write_file", { path: "a.py", content: "two\n" })).details);
  assert.ok(change !== undefined);
  assert.ok(await undo(change, person.host(disk)));
  assert.equal(await disk.file("shop/a.py"), "one\n");
  assert.deepEqual(person.questions, []);
});

test("an edit of an imported conversation is undone only after a question that names the file", async () => {
  await using disk = await Disk.with({ "shop/.git/config": "new\n", "shop/a.py": "new\n" });
  const person = new Person();
  await symlink(".git/config", join(disk.root, "shop/notes.txt"));
  const imported = fileChangeOf("notes.txt", "[core]\n\tfsmonitor = ./run\n", "new\n");
  assert.equal(await undo(imported, person.host(disk)), false);
  assert.equal(await disk.file("shop/.git/config"), "new\n");
  assert.match(person.questions[0] ?? "", /^\.git\/config: This file can make programs run.*\n\nThe conversation was imported/);
  person.answer = () => "Undo";
  assert.ok(await undo(fileChangeOf("a.py", "old\n", "new\n"), person.host(disk)));
  assert.equal(await disk.file("shop/a.py"), "old\n");
  person.answer = async () => {
    await mkdir(join(disk.root, "shop/b"), { recursive: true });
    await writeFile(join(disk.root, "shop/a.py"), "by somebody else\n");
    return "Undo";
  };
  await assert.rejects(undo(fileChangeOf("a.py", "older\n", "old\n"), person.host(disk)), /has changed while you were asked/);
  assert.equal(await disk.file("shop/a.py"), "by somebody else\n");
});
