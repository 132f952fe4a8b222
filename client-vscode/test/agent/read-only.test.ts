import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { placeOf } from "../../src/agent/paths";
import type { ApprovalPolicy } from "../../src/approvals/approval";
import { Approvals } from "../../src/approvals/approvals";
import { isReadOnly } from "../../src/permissions/read-only";
import { Rules } from "../../src/permissions/rules";
import { Disk } from "./disk";

const FILES = { "shop/src/a.py": "one\n", "shop/.env": "KEY=1\n", "shop/.gitignore": "build/\n", "shop/build/out.txt": "x", "outside.txt": "private\n" };
const PATH = "/usr/local/bin:/usr/bin:/bin";

const READING = [
  "pwd", "ls", "ls -la", "ls -l src", "cat src/a.py", "cat -n src/a.py", "head -n 20 src/a.py", "head -20 src/a.py", "tail -c 100 src/a.py", "wc -l src/a.py .gitignore",
  "git status", "git status -s", "git status --short --branch src", "git log", "git log --oneline -20", "git log -n 5 -- src/a.py", "git log --stat main..HEAD", "git diff --stat",
  "git diff --cached --name-only", "git diff --name-status main", "git branch", "git branch -vv", "git branch --show-current", "ls 'src'",
];
const ASKED = [
  // Contents of files that are asked about, by whatever name.
  "cat .env", "head .env", "wc -l .env", "cat ./.env", "cat src/../.env", "cat link", "cat build/out.txt", "cat ../outside.txt", "cat /etc/passwd", "cat src/a.py .env", "cat up/outside.txt", "tail -n 1 .env", "cat .git/config",
  "git diff", "git diff --cached", "git diff src/a.py", "git log -p", "git show", "git show HEAD:.env", "git log -S KEY", "git log --patch", "git diff --stat -p", "grep KEY .env", "grep -r KEY .",
  // What writes, runs or waits.
  "git log --output=x", "git diff --stat --output=x", "git diff --stat --ext-diff", "git log --textconv", "git branch new", "git branch -d main", "git branch -v new", "git status --porcelain=v2", "git -C inner status", "git -c core.pager=x log",
  "git checkout .", "git stash", "git push", "tail -f src/a.py", "tail -n5f src/a.py", "cat", "head", "wc -l", "wc --files0-from=x", "ls --color=always", "pwd -P", "pwd x", "find . -delete", "find .", "sort -o x src/a.py", "tee x", "env", "node --version", "cargo --version", "make -n",
  // What is no simple command.
  "ls > x", "ls; id", "ls && id", "ls | sh", "ls $(id)", "ls `id`", "ls *", "ls ~", "A=1 ls", "ls\nid", "l\\s", "ls # x", "./ls", "/bin/ls", "src/ls", "LS", "git  ", "git", "", "constructor", "toString x", "__proto__",
];

async function workspace(): Promise<Disk> {
  const disk = await Disk.with(FILES);
  await symlink(".env", join(disk.root, "shop/link"));
  await symlink("..", join(disk.root, "shop/up"));
  return disk;
}

test("commands that only read what a model may read pass, and no others", async () => {
  await using disk = await workspace();
  const place = await placeOf(disk.folders, ".");
  for (const command of READING) assert.ok(await isReadOnly(command, place, disk.folders, PATH, "linux"), command);
  for (const command of ASKED) assert.ok(!(await isReadOnly(command, place, disk.folders, PATH, "linux")), command);
});

test("in a folder below, names are those of that folder, and Git is asked about", async () => {
  await using disk = await workspace();
  const below = await placeOf(disk.folders, "src");
  const passes = (command: string) => isReadOnly(command, below, disk.folders, PATH, "linux");
  assert.deepEqual(await Promise.all(["cat a.py", "cat ../.gitignore", "cat ../.env", "cat ../../outside.txt", "git status"].map(passes)), [true, true, false, false, false]);
});

test("nothing passes where a program of the checkout could be meant", async () => {
  await using disk = await workspace();
  const place = await placeOf(disk.folders, ".");
  for (const path of ["", ".", `bin:${PATH}`, `${PATH}:`, `${join(disk.root, "shop/.venv/bin")}:${PATH}`]) assert.ok(!(await isReadOnly("ls", place, disk.folders, path, "linux")), path);
  assert.ok(!(await isReadOnly("ls", place, disk.folders, PATH, "win32")));
});

test("a command that only reads is not asked about, unless each use is, or a rule says so", { skip: process.platform === "win32" }, async () => {
  await using disk = await workspace();
  const rules = new Rules({ workspace: { read: () => [], write: () => undefined }, always: { read: () => [], write: () => undefined } });
  const approvals = new Approvals({ read: () => [], write: () => undefined }, rules);
  disk.approve = (...given) => approvals.approve(...given);
  const asks = async (command: string, policy: ApprovalPolicy): Promise<boolean> => {
    disk.settings = { access: "all", policy };
    const call = disk.call("run_command", { command });
    approvals.onDidChange(() => { for (const { id } of approvals.pending()) queueMicrotask(() => approvals.decide(id, { kind: "deny" })); });
    return (await call).text.includes("did not allow");
  };
  const before = process.env["PATH"];
  process.env["PATH"] = PATH;
  try {
    assert.deepEqual([await asks("cat src/a.py", "firstUse"), await asks("cat .env", "firstUse"), await asks("cat src/a.py", "always")], [false, true, true]);
    rules.add({ rule: { effect: "ask", tool: "run_command", words: ["cat"] }, reach: "conversation", conversationId: "c" });
    assert.equal(await asks("cat src/a.py", "firstUse"), true);
    rules.add({ rule: { effect: "deny", tool: "run_command", words: ["cat"] }, reach: "conversation", conversationId: "c" });
    assert.match((await disk.call("run_command", { command: "cat src/a.py" })).text, /refuses this/);
  } finally {
    process.env["PATH"] = before;
  }
});
