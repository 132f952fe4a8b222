/** Commands that run without a question, since they only read, as the agent decides it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs, { chmod, mkdir, readdir, readlink, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mock, test } from "node:test";

import { ToolError } from "../../src/agent/errors";
import { FileRules } from "../../src/agent/file-rules";
import { placeOf } from "../../src/agent/paths";
import { readOnlyRun } from "../../src/agent/read-only";
import { bytesOfFile } from "../../src/agent/text-file";
import { Approvals } from "../../src/approvals/approvals";
import type { Rule } from "../../src/permissions/rule";
import { Rules } from "../../src/permissions/rules";
import { Disk } from "./disk";

const FILES = {
  "outside.txt": "private\n",
  "shop/README.md": "one\ntwo\nthree\n",
  "shop/a b.txt": "blank\n",
  "shop/größe.txt": "größe\n",
  "shop/-n": "dash\n",
  "shop/+5": "plus\n",
  "shop/.env": "KEY=1\n",
  "shop/.git/config": "[user]\n",
  "shop/.gitignore": "build/\n*.log\n",
  "shop/debug.log": "ignored\n",
  "shop/build/out.txt": "ignored\n",
  "shop/src/api.py": "pass\n",
  "shop/src/.hidden": "hidden\n",
  "shop/src/deep/x.py": "pass\n",
  "shop/keys/id_rsa": "key\n",
  "shop/odd/-": "dash\n",
  "shop/mixed/a.py": "pass\n",
  "shop/mixed/.env": "KEY=1\n",
  "shop/binary/data.db": "SQLite format 3\0secret\n",
};

/** The workspace with a person who denies every question. */
async function workspace(rules: readonly Rule[] = []): Promise<Disk & { questions: string[] }> {
  const disk = Object.assign(await Disk.with(FILES), { questions: [] as string[] });
  const memory = { read: () => undefined, write: () => undefined };
  const approvals = new Approvals(memory, new Rules({ workspace: { read: () => rules, write: () => undefined }, always: memory }));
  approvals.onDidChange(() => {
    for (const { id, details } of approvals.pending()) {
      disk.questions.push(...details.map((detail) => (detail.kind === "command" ? detail.command : detail.kind)));
      approvals.decide(id, { kind: "deny" });
    }
  });
  disk.approve = (...given) => approvals.approve(...given);
  const shop = join(disk.root, "shop");
  await symlink("README.md", join(shop, "link-to-readme"));
  await symlink("src", join(shop, "link-to-src"));
  await symlink(".env", join(shop, "link-to-env"));
  await symlink("build", join(shop, "link-to-build"));
  await symlink(".git", join(shop, "link-to-git"));
  await symlink(join(disk.root, "outside.txt"), join(shop, "link-to-outside"));
  await symlink(disk.root, join(shop, "link-up"));
  await symlink("/proc/self", join(shop, "link-to-process"));
  await symlink("/dev/zero", join(shop, "link-to-zero"));
  await symlink("nowhere", join(shop, "dangling"));
  await symlink("loop", join(shop, "loop"));
  execFileSync("mkfifo", [join(shop, "pipe")]);
  await mkdir(join(shop, "links"));
  await symlink("../../outside.txt", join(shop, "links/out"));
  await mkdir(join(shop, "breaks"));
  await writeFile(join(shop, "breaks/a\nb"), "");
  await mkdir(join(shop, "many"));
  await Promise.all(Array.from({ length: 401 }, (_, at) => writeFile(join(shop, "many", String(at)), "")));
  await writeFile(join(shop, "huge.txt"), "");
  await truncate(join(shop, "huge.txt"), 10_000_001);
  return disk;
}

/** Each with what it prints. */
const UNASKED: readonly [line: string, output: string | RegExp, folder?: string][] = [
  ["pwd", /\/shop$/],
  ["  pwd  ", /\/shop$/],
  ["pwd --", /\/shop$/],
  ["pwd", /\/shop\/src$/, "src"],
  ["pwd", /\/shop\/src$/, "link-to-src"],
  ["ls src", "api.py\ndeep"],
  ["ls ./src", "api.py\ndeep"],
  ["ls src/", "api.py\ndeep"],
  ["ls", "api.py\ndeep", "src"],
  ["ls .", "api.py\ndeep", "src"],
  ["ls -- src", "api.py\ndeep"],
  ["ls src --", "api.py\ndeep"],
  ["'ls' 'src'", "api.py\ndeep"],
  ["ls -1 src", "api.py\ndeep"],
  ["ls -a src", ".\n..\n.hidden\napi.py\ndeep"],
  ["ls -A src", ".hidden\napi.py\ndeep"],
  ["ls -la src", /\.hidden$/m],
  ["ls -l -a src", /\.hidden$/m],
  ["ls -lahtrS1F src", /deep\/$/m],
  ["ls src -l", /api\.py$/m],
  ["ls src/deep", "x.py"],
  ["ls mixed", "a.py"],
  ["cat README.md", "one\ntwo\nthree"],
  ["cat ./README.md", "one\ntwo\nthree"],
  ["cat .//README.md", "one\ntwo\nthree"],
  ["cat -- README.md", "one\ntwo\nthree"],
  ["cat README.md --", "one\ntwo\nthree"],
  ["cat 'README.md'", "one\ntwo\nthree"],
  ["cat \"README.md\"", "one\ntwo\nthree"],
  ["\"cat\" README.md", "one\ntwo\nthree"],
  ["cat 'a b.txt'", "blank"],
  ["cat \"größe.txt\"", "größe"],
  ["cat -n README.md", /^ +1\tone\n +2\ttwo\n +3\tthree$/],
  ["cat -nn README.md", /1\tone/],
  ["cat README.md -n", /1\tone/],
  ["cat -- -n", "dash"],
  ["cat ./-n", "dash"],
  ["cat ./+5", "plus"],
  ["cat link-to-readme", "one\ntwo\nthree"],
  ["cat link-to-src/api.py", "pass"],
  ["cat api.py", "pass", "src"],
  ["cat src/.hidden", "hidden"],
  ["cat .gitignore", "build/\n*.log"],
  ["head README.md", "one\ntwo\nthree"],
  ["head -n 1 README.md", "one"],
  ["head -n1 README.md", "one"],
  ["head -1 README.md", "one"],
  ["head -n -1 README.md", "one\ntwo"],
  ["head -c 3 README.md", "one"],
  ["head README.md -n 1", "one"],
  ["tail README.md", "one\ntwo\nthree"],
  ["tail -n 1 README.md", "three"],
  ["tail -1 README.md", "three"],
  ["tail -n +2 README.md", "two\nthree"],
  ["tail -c 6 README.md", "three"],
  ["wc README.md", /3 +3 +14/],
  ["wc -l README.md", "3"],
  ["wc -lwc README.md", /3 +3 +14/],
  ["wc -m 'größe.txt'", "6"],
];

const SHELL = [
  ";id", "; id", "&& id", "|| id", "| id", "|id", "& id", "&", "> x", ">x", ">> x", ">| x", "< x", "<x", "2>x", "2>&1", "&> x", "<<EOF", "<<< x", "<(id)", ">(id)", "$(id)", "`id`", "$HOME", "${HOME}", "$'x'", "$\"x\"", "\"$HOME\"", "\"$(id)\"", "\"`id`\"",
  "*", "*.md", "?", "R?ADME.md", "[R]EADME.md", "{a,b}", "README.{md,txt}", "~", "~/x", "~root", "# x", "!!", "!id", "\"!id\"", "\\x", "a\\ b", "\\", "\nid", "\n", "\r\nid", "\tx", "\u00a0x", "\u2028id", "\u0000", "\u202ex", "(id)", "^x", "%PATH%", "'x", "\"x", "x'y'", "'x'y", "\"x\"'y'", "=cat", "@(a|b)",
];

/** Each is asked about in the workspace folder, or in the one that is named. */
const ASKED: readonly (string | readonly [line: string, folder: string])[] = [
  ...SHELL.map((each) => `cat README.md ${each}`),
  // Another program, or one that could be another.
  "", " ", "''", "cat README.md''", "CAT README.md", "Cat README.md", "cats README.md", "cat.exe README.md", "/bin/cat README.md", "/usr/bin/cat README.md", "./cat README.md", "bin/cat README.md", "../cat README.md", "'cat README.md'", "\"cat README.md\"", "'cat ' README.md", "c\u0430t README.md", "'c\u0430t' README.md",
  "A=1 cat README.md", "PATH=. cat README.md", "LD_PRELOAD=./x.so cat README.md", "A+=1 cat README.md", "env cat README.md", "sudo cat README.md", "exec cat README.md", "command cat README.md", "builtin pwd", "time cat README.md", "nice cat README.md", "nohup cat README.md", "xargs cat README.md", "! cat README.md", "{ cat README.md; }", "(cat README.md)",
  "sh -c 'cat README.md'", "bash README.md", "eval pwd", ". README.md", "source README.md", "constructor README.md", "__proto__ README.md", "toString",
  "git status", "git log", "git diff", "git --version", "find .", "find src -name api.py", "grep one README.md", "rg one README.md", "sed -n 1p README.md", "awk 1 README.md", "sort README.md", "sort -o x README.md", "uniq README.md x", "diff README.md .env", "diff README.md README.md", "stat README.md", "file README.md", "less README.md", "more README.md", "tac README.md", "nl README.md", "tee README.md", "dd README.md", "which node", "type node", "env", "printenv", "echo x", "date", "ps", "tree", "du", "readlink README.md", "realpath README.md", "xxd README.md", "od README.md",
  "node --version", "npm --version", "yarn --version", "cargo --version", "rustc --version", "python3 --version", "python --version", "go version", "dotnet --version", "cat --version", "ls --help",
  // Options.
  "tail -f README.md", "tail -F README.md", "tail -nf README.md", "tail -fn5 README.md", "tail -5f README.md", "tail -f5 README.md", "tail -n 5 -f README.md", "tail README.md -f", "tail -n5f README.md", "tail -qf README.md", "tail --follow README.md", "tail --follow=name README.md", "tail --follo README.md", "tail --f README.md", "tail --retry README.md", "tail --pid=1 README.md", "tail -s 9 README.md", "tail -r README.md", "tail -z README.md",
  "tail -n README.md", "tail -n x README.md", "tail -n 1x README.md", "tail -n 1k README.md", "tail -n '' README.md", "tail -n -- README.md", "tail -n=1 README.md", "tail -n1 -c README.md", "tail --lines=1 README.md", "tail --lines 1 README.md", "tail --line=1 README.md", "tail -n 9999999999 README.md", "tail -n '1 2' README.md", "tail -n", "tail +5 README.md", "tail +5f README.md", "tail +5", "cat -- +5",
  "head -q README.md", "head -v README.md", "head --bytes=1 README.md", "head -5c README.md", "head -0x5 README.md", "head -n --help README.md", "head -cn1 README.md",
  "cat -A README.md", "cat -e README.md", "cat -v README.md", "cat -u README.md", "cat -1 README.md", "cat -nX README.md", "cat --number README.md", "cat --num README.md", "cat -n=1 README.md", "cat ---n README.md",
  "ls -R src", "ls -lR src", "ls -L src", "ls -H src", "ls -d src", "ls -i src", "ls -Z src", "ls -l5 src", "ls --recursive src", "ls --recurs src", "ls --color=always src", "ls --hyperlink src", "ls -I x src", "ls -w 5 src",
  "wc -L README.md", "wc --files0-from=README.md", "wc --files0-fr=README.md", "wc --files0-from README.md", "wc -l5 README.md", "pwd -P", "pwd -L", "pwd --logical", "pwd x",
  // Operands.
  "cat", "cat -", "cat - README.md", "cat -- -", "cat --", "cat -n", "head", "head -5", "head -", "tail", "tail -n 5", "wc", "wc -l", "wc -", "cat ''", "ls ''", "cat README.md README.md", "cat README.md src/api.py", "wc -l README.md src/api.py", "ls src src", "ls src -- src", "cat README.md -- README.md", "ls -", "ls -- -a", ["cat -", "odd"], ["cat -- -", "odd"], ["ls ''", "odd"], ["cat +5", "."],
  // Places.
  "cat .env", "cat ./.env", "cat 'src/../.env'", "cat src/../README.md", "cat ../shop/README.md", "ls ..", "ls src/..", "cat ../outside.txt", "cat link-to-src/../README.md", ["cat ../README.md", "src"], "cat /etc/passwd", "cat /etc/hostname", "cat -- /etc/passwd", "cat /proc/self/environ", "cat /proc/1/cmdline", "cat /dev/stdin", "cat /dev/fd/0", "cat /dev/zero", "cat /dev/tty", "head -c 5 /dev/urandom", "tail /dev/zero", "wc /dev/zero",
  "cat link-to-env", "cat link-to-outside", "cat link-up/outside.txt", "cat link-to-process/environ", "cat link-to-zero", "cat dangling", "cat loop", "cat link-to-git/config", "cat link-to-build/out.txt", "ls link-up", "ls link-to-git", "ls link-to-build", "ls link-to-src", "ls link-to-process", "ls links",
  "cat debug.log", "tail -n 5 debug.log", "cat build/out.txt", "ls build", ["ls", "build"], ["cat out.txt", "build"], "cat .git/config", "head .git/config", "ls .git", "ls -la .git", ["ls", ".git"], ["cat config", ".git"], "cat keys/id_rsa", "wc keys/id_rsa", "cat KEYS/../keys/id_rsa", "ls keys", "ls", "ls .", "ls -la", "ls -a mixed", "ls -A mixed", "ls -la mixed", ["ls -a", "mixed"],
  "cat pipe", "head pipe", "tail pipe", "wc pipe", "ls pipe", "cat src", "head src", "wc src", "ls README.md", "ls -l README.md", "cat missing", "ls missing", "cat README.md/x", "ls breaks", "ls many", "cat huge.txt", "head huge.txt", "tail -n 1 huge.txt", "cat binary/data.db", "tail -c 5 binary/data.db", "wc -c huge.txt", `cat ${"x".repeat(300)}`, `cat ${"x".repeat(5000)}`, `cat ${"a/".repeat(1500)}x`,
];

test("what only reads what needs no question is run without a question", async () => {
  await using disk = await workspace();
  assert.ok(UNASKED.length >= 40);
  for (const [command, output, folder = "."] of UNASKED) {
    const result = await disk.call("run_command", { command, folder });
    assert.deepEqual(disk.questions, [], command);
    const printed = result.text.replace(/\n\[Exit code 0\]$/, "").trimStart();
    if (typeof output === "string") assert.equal(printed, output, command);
    else assert.match(result.text.replace(/\n\[Exit code 0\]$/, ""), output, command);
    assert.deepEqual(result.details, { exitCode: 0, ending: "exited", readOnly: true }, command);
  }
});

test("every other line is asked about", async () => {
  await using disk = await workspace();
  assert.ok(new Set(ASKED.map(String)).size >= 150);
  for (const each of ASKED) {
    const [command, folder] = typeof each === "string" ? [each, "."] : each;
    const result = await disk.call("run_command", { command, folder });
    assert.deepEqual([disk.questions, result.details], [[command], { denied: true }], command);
    disk.questions.length = 0;
  }
});

test("a rule that denies or asks wins over the list, and so does a person who is asked about everything", async () => {
  const rule = (effect: Rule["effect"], words?: string[]): Rule => ({ effect, tool: "run_command", ...(words === undefined ? {} : { words }) });
  for (const [rules, policy, isAsked] of [
    [[rule("deny", ["cat"])], "firstUse", false],
    [[rule("deny")], "firstUse", false],
    [[rule("ask", ["cat"])], "firstUse", true],
    [[rule("ask")], "firstUse", true],
    [[], "always", true],
  ] as const) {
    await using disk = await workspace(rules);
    disk.settings = { ...disk.settings, policy };
    const result = await disk.call("run_command", { command: "cat README.md" });
    assert.deepEqual([result.details, disk.questions], [{ denied: true }, isAsked ? ["cat README.md"] : []]);
  }
});

test("with the setting off each is asked about, and none runs in plan mode or an untrusted workspace", async () => {
  await using disk = await workspace();
  const command = "cat README.md";
  disk.modes.set("c", "plan");
  assert.match((await disk.call("run_command", { command })).text, /plan only/);
  disk.modes.set("c", "acceptEdits");
  assert.equal((await disk.call("run_command", { command })).isError, false);
  disk.isTrusted = false;
  assert.match((await disk.call("run_command", { command })).text, /not trusted/);
  disk.isTrusted = true;
  assert.deepEqual(disk.questions, []);
  disk.settings = { ...disk.settings, readOnlyCommands: false };
  await disk.call("run_command", { command });
  assert.deepEqual(disk.questions, [command]);
});

test("a command that a person allows runs in the shell, and is not marked", async () => {
  await using disk = await workspace([{ effect: "ask", tool: "run_command" }]);
  disk.approve = () => Promise.resolve({ allowed: true });
  const result = await disk.call("run_command", { command: "cat README.md" });
  assert.deepEqual(result.details, { exitCode: 0, ending: "exited" });
});

test("the program is that of the system, without a shell and without the environment of the editor", async () => {
  await using disk = await workspace();
  const environment = { ...process.env };
  const shop = join(disk.root, "shop");
  for (const name of ["cat", "sh", "ls"]) {
    await writeFile(join(shop, "src", name), `#!/bin/sh\ntouch ${shop}/ran\n`);
    await chmod(join(shop, "src", name), 0o755);
  }
  await writeFile(join(shop, "src/env.sh"), `touch ${shop}/ran\n`);
  try {
    Object.assign(process.env, { PATH: `${shop}/src:${process.env["PATH"]}`, BASH_ENV: `${shop}/src/env.sh`, ENV: `${shop}/src/env.sh`, LD_PRELOAD: `${shop}/src/none.so`, POSIXLY_CORRECT: "1" });
    for (const command of ["cat README.md", "cat api.py"]) {
      const result = await disk.call("run_command", { command, folder: command.endsWith(".py") ? "src" : "." });
      assert.match(result.text, /^(?:one\ntwo\nthree|pass)\n\[Exit code 0\]$/);
    }
  } finally {
    for (const name of ["PATH", "BASH_ENV", "ENV", "LD_PRELOAD", "POSIXLY_CORRECT"]) {
      if (environment[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = environment[name];
    }
  }
  await assert.rejects(disk.file("shop/ran"));
  assert.deepEqual(disk.questions, []);
});

test("a file that becomes a link before it is opened is asked about, and one that does so afterwards is read as it was judged", async () => {
  await using disk = await workspace();
  const path = join(disk.root, "shop/README.md");
  const exchange = async (): Promise<void> => {
    await rename(path, `${path}.old`);
    await symlink("../outside.txt", path);
  };
  const takeBack = (): Promise<void> => rename(`${path}.old`, path);
  await writeFile(join(disk.root, "shop/build/api.py"), "ignored\n");
  const src = join(disk.root, "shop/src");
  const exchangeFolder = async (): Promise<void> => {
    await rename(src, `${src}.old`);
    await symlink("build", src);
  };
  const open = fs.open;
  const nothing = (): Promise<void> => Promise.resolve();
  for (const [command, before, after] of [["cat README.md", exchange, nothing], ["cat README.md", exchange, takeBack], ["cat src/api.py", exchangeFolder, nothing]] as const) {
    const opening = mock.method(fs, "open", async (...given: Parameters<typeof open>) => {
      const isIt = given[0] === join(disk.root, "shop", command.slice(4));
      if (isIt) await before();
      const file = await open(...given);
      if (isIt) await after();
      return file;
    });
    const result = await disk.call("run_command", { command });
    opening.mock.restore();
    assert.deepEqual([result.details, disk.questions], [{ denied: true }, [command]]);
    disk.questions.length = 0;
    if (before === exchange && after === nothing) await takeBack();
  }

  const approve = disk.approve;
  disk.approve = async (...given) => {
    await exchange();
    return approve(...given);
  };
  assert.equal((await disk.call("run_command", { command: "cat README.md" })).text, "one\ntwo\nthree\n[Exit code 0]");
});

test("a file that has more than its size says is not read", { skip: process.platform !== "linux" && "it reads files of Linux" }, async () => {
  await assert.rejects(bytesOfFile("/proc/self/environ"), ToolError);
  await assert.rejects(bytesOfFile("/proc/self/pagemap"));
});

test("a folder that becomes a link before it is listed is not listed", async () => {
  await using disk = await workspace();
  const approve = disk.approve;
  disk.approve = async (...given) => {
    await rm(join(disk.root, "shop/src"), { recursive: true });
    await symlink("keys", join(disk.root, "shop/src"));
    return approve(...given);
  };
  const { text, isError } = await disk.call("run_command", { command: "ls src" });
  assert.ok(isError);
  assert.doesNotMatch(text, /id_rsa/);
});

test("no file stays open", { skip: process.platform !== "linux" && "it looks at the descriptors of Linux" }, async () => {
  await using disk = await workspace([{ effect: "ask", tool: "run_command", words: ["head"] }]);
  for (const command of ["cat README.md", "head README.md", "cat huge.txt", "cat pipe", "cat src"]) await disk.call("run_command", { command });
  const open = await Promise.all((await readdir("/proc/self/fd")).map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")));
  assert.deepEqual(open.filter((each) => each.startsWith(disk.root)), []);
});

test("what is stopped reads no further names of a folder", async () => {
  await using disk = await Disk.with(FILES);
  const place = await placeOf(disk.folders, ".");
  const { signal } = new AbortController();
  for (const [stop, cwd] of [[signal, join(place.path, "src")], [AbortSignal.abort(), undefined]] as const) {
    await using run = await readOnlyRun("ls src", place, disk.folders, await FileRules.of([], disk.folders), stop);
    assert.equal(run?.cwd, cwd);
  }
});
