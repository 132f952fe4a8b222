/** Rules of the user about files, whichever tool names them and however their paths are written. */
import assert from "node:assert/strict";
import { realpath, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { FileRules } from "../../src/agent/file-rules";
import { Approvals } from "../../src/approvals/approvals";
import { FILES, type Rule } from "../../src/permissions/rule";
import { Rules } from "../../src/permissions/rules";
import { Disk, hasRipgrep } from "./disk";

const TREE = { "shop/a.py": "one\n", "shop/src/keys/b.py": "one\n", "shop/src/my keys.py": "one\n", "shop/src/keysmith.py": "one\n", "other/src/keys/c.py": "one\n" };
const NEVER = new AbortController().signal;
const DENY: Rule = { effect: "deny", tool: FILES, path: "src/keys" };

/** A workspace with these rules, and a person who denies what they are asked. */
async function workspace(rules: readonly Rule[], folders?: readonly string[]): Promise<Disk & { cards: string[] }> {
  const disk = Object.assign(await Disk.with(TREE, folders), { cards: [] as string[] });
  const memory = { read: () => undefined, write: () => undefined };
  const approvals = new Approvals(memory, new Rules({ workspace: { read: () => rules, write: () => undefined }, always: memory }));
  approvals.onDidChange(() => {
    for (const { id, title, details } of approvals.pending()) {
      disk.cards.push([title, ...details.flatMap((detail) => (detail.kind === "note" ? [detail.text] : []))].join(": "));
      approvals.decide(id, { kind: "deny" });
    }
  });
  disk.approve = (...given) => approvals.approve(...given);
  disk.rules = rules;
  await symlink("src/keys", join(disk.root, "shop/link"));
  await symlink("keys/deep", join(disk.root, "shop/src/dangling"));
  return disk;
}

const SPELLINGS = ["src/keys/b.py", "./src/keys/b.py", "src/./keys//b.py", "a/../src/keys/b.py", "src/keysmith/../keys/b.py", "link/b.py", "link/../keys/b.py", "SRC/Keys/b.py", "src/keys/new.py", "src/keys", "link"];

test("a path that a rule refuses is refused to every tool, however it is written, and nobody is asked", async () => {
  await using disk = await workspace([DENY]);
  disk.settings = { ...disk.settings, policy: "never" };
  for (const path of [...SPELLINGS, join(disk.root, "shop/src/keys/b.py")]) {
    // From the workspace folder the system reads `link/../keys` as another place than the tools do.
    if (path.startsWith("link/..")) continue;
    for (const [tool, given] of [["read_file", { path }], ["list_files", { path }], ["search", { path, pattern: "one" }], ["write_file", { path, content: "one\n" }], ["edit_file", { path, edits: [{ oldText: "one", newText: "two" }] }], ["run_command", { command: "true", folder: path }]] as const) {
      const { text, isError, details } = await disk.call(tool, given);
      assert.deepEqual([text, isError, details], ["A rule of the user's refuses this: the path src/keys.", true, { denied: true }], `${tool} ${path}`);
    }
  }
  assert.match((await disk.call("read_file", { path: "src/keysmith.py" })).text, /one/);
  assert.deepEqual(disk.cards, []);
  assert.equal(await disk.file("shop/src/keys/b.py"), "one\n");
});

test("a rule about a link is about what it leads to, and one about everything about each folder", async () => {
  await using disk = await workspace([{ ...DENY, path: "link" }]);
  for (const path of ["src/keys/b.py", "link/b.py"]) assert.match((await disk.call("read_file", { path })).text, /refuses this: the path link/);
  await using whole = await workspace([{ effect: "deny", tool: FILES, path: "" }], ["shop", "other"]);
  for (const path of ["a.py", "other/src/keys/c.py"]) assert.match((await whole.call("read_file", { path })).text, /refuses this: the path \./);
});

test("a rule of a workspace folder holds in no other, one without a folder in each", async () => {
  for (const [place, refused] of [[undefined, [true, true]], ["shop", [true, false]]] as const) {
    await using disk = await workspace([]);
    const rules = await FileRules.of([{ ...DENY, ...place !== undefined && { place: { folder: join(disk.root, place), path: "src/keys" } } }], ["shop", "other"].map((name) => join(disk.root, name)));
    assert.deepEqual(["shop/src/keys/b.py", "other/src/keys/c.py"].map((path) => rules.at(join(disk.root, path)) !== undefined), refused);
  }
});

test("results of a search and lists of files leave out what a rule refuses or asks about", { skip: !hasRipgrep && "ripgrep is missing" }, async () => {
  for (const effect of ["deny", "ask"] as const) {
    await using disk = await workspace([{ ...DENY, effect }]);
    for (const [tool, given] of [["search", { pattern: "one" }], ["search", { pattern: "one", glob: "*.py" }], ["list_files", {}], ["list_files", { path: "src", glob: "**" }]] as const) {
      const { text } = await disk.call(tool, given);
      assert.match(text, /keysmith\.py/);
      assert.doesNotMatch(text, /b\.py/, `${tool} ${effect}`);
    }
    const { text } = await disk.call("list_files", { path: "src/keys" });
    assert.match(text, effect === "deny" ? /refuses this/ : /did not allow/);
    assert.deepEqual(disk.cards, effect === "deny" ? [] : ["List src/keys: A rule asks about the path src/keys."]);
  }
});

test("a path that a rule asks about is asked about each time, in every mode and whatever is allowed", async () => {
  await using disk = await workspace([{ ...DENY, effect: "ask" }, { effect: "allow", tool: "edit_file" }, { effect: "allow", tool: "run_command" }]);
  disk.modes.set("c", "acceptEdits");
  disk.settings = { ...disk.settings, policy: "never" };
  for (const [tool, given] of [["read_file", { path: "link/b.py" }], ["write_file", { path: "src/keys/b.py", content: "one\n" }], ["run_command", { command: "cat src/keys/b.py" }]] as const) assert.match((await disk.call(tool, given)).text, /did not allow/, tool);
  assert.deepEqual(disk.cards, ["Read src/keys/b.py", "Edit src/keys/b.py", "Run a command"].map((title) => `${title}: A rule asks about the path src/keys.`));
  assert.match((await disk.call("write_file", { path: "a.py", content: "two\n" })).text, /Changed/);
});

test("a rule that allows a folder to every tool allows edits there, and refuses win over it", async () => {
  await using disk = await workspace([{ effect: "allow", tool: FILES, path: "src", place: { folder: await realpath("/"), path: "src" } }]);
  await disk.call("write_file", { path: "src/new.py", content: "" });
  assert.equal(disk.cards.length, 1, "of another folder");
  const allow: Rule = { effect: "allow", tool: FILES, path: "src", place: { folder: join(disk.root, "shop"), path: "src" } };
  await using allowed = await workspace([]);
  const own = { ...allow, place: { folder: join(allowed.root, "shop"), path: "src" } };
  const memory = { read: () => undefined, write: () => undefined };
  const approvals = new Approvals(memory, new Rules({ workspace: { read: () => [own, DENY], write: () => undefined }, always: memory }));
  allowed.approve = (...given) => approvals.approve(...given);
  allowed.rules = [own, DENY];
  assert.match((await allowed.call("write_file", { path: "src/new.py", content: "" })).text, /Created/);
  assert.match((await allowed.call("write_file", { path: "src/keys/new.py", content: "" })).text, /refuses this/);
});

const NAMING = [
  ...SPELLINGS.map((path) => `cat ${path}`), "cat 'src/keys/b.py'", "cat \"src/keys\"/b.py", "cat s''rc/k\\eys/b.py", "cat src/{keys,x}/../keys/b.py", "rm -rf src/keys", "ls -la>src/keys/out", "cat <src/keys/b.py", "cd src/keys && cat b.py", "(cat src/keys/b.py)", "echo `cat src/keys/b.py`", "sh -c 'cat src/keys/b.py'",
  "git diff --no-index --output=src/keys/x a b", "tool --file=src/keys/b.py", "tool -fsrc/keys/b.py", "tool @src/keys/b.py", "git show HEAD:src/keys/b.py", "tool a,src/keys/b.py", "dd if=src/keys/b.py", "curl file:src/keys/b.py", "cat ./src//keys/./b.py",
];
const HIDING = ["cd src && cat keys/b.py", "cd src; cat ke''ys/b.py", "cat $D/keys", "bash -c \"cd src; cat keys/b.py\"", "find . -path '*/keys/*' -exec cat {} +", "cat */keys/*", "cd SRC; cat KEYS/b.py", "for x in keys; do cat src/$x/*; done", ` ${"true;".repeat(30_000)}`.slice(0, 120_000) + "cat keys"];
const OTHERS = ["cat a.py", "cat src/keysmith.py", "pytest -q src", "cat keys", "cd src && cat keysmith.py", "git log --oneline -5", "cat src/keys.py"];

test("a command is refused where its words name the path, and asked about where a line could", async () => {
  await using disk = await workspace([DENY]);
  const rules = await FileRules.of([DENY], disk.folders);
  const said = async (line: string) => {
    const ruled = await rules.inCommand(line, join(disk.root, "shop"), NEVER);
    return ruled && (ruled.isHidden ? "asked" : "refused");
  };
  for (const line of [...NAMING, `cat ${join(disk.root, "shop/src/keys/b.py")}`, `cat ~/${relative(homedir(), join(disk.root, "shop/src/keys"))}`, `open ${pathToFileURL(join(disk.root, "shop/src/keys/b.py")).href}`]) assert.equal(await said(line), "refused", line);
  for (const line of HIDING) assert.equal(await said(line), "asked", line.slice(-80));
  for (const line of OTHERS) assert.equal(await said(line), undefined, line);
  assert.match((await disk.call("run_command", { command: "cat src/keys/b.py" })).text, /refuses this/);
  disk.settings = { ...disk.settings, policy: "never" };
  assert.match((await disk.call("run_command", { command: "cd src && cat keys/b.py" })).text, /did not allow/);
  assert.deepEqual(disk.cards, ["Run a command: A rule denies the path src/keys, which this could name."]);
  assert.match((await disk.call("run_command", { command: "cat b.py", folder: "src/keys" })).text, /refuses this/);
});

test("names with spaces and accents are found in a command, and more parts of paths than are looked up are asked about", async () => {
  await using disk = await workspace([]);
  const rules = await FileRules.of([{ ...DENY, path: "src/my keys.py" }, { ...DENY, path: "src/sch\u00f6n" }], disk.folders);
  const ruled = async (line: string) => (await rules.inCommand(line, join(disk.root, "shop"), NEVER))?.isHidden;
  assert.deepEqual(await Promise.all(["cat 'src/my keys.py'", "cat src/my\\ keys.py", "cat src/scho\u0308n", "cat src/other.py"].map(ruled)), [false, true, false, undefined]);
  assert.equal(await ruled(`ls ${Array.from({ length: 2000 }, (_, at) => `f${at}`).join(" ")}`), true);
  assert.equal(await ruled(`ls ${Array.from({ length: 40 }, (_, at) => `${at}${"/a".repeat(2000)}`).join(" ")}`), true);
  assert.equal(await ruled(`ls ${"a/".repeat(2000)} src/sch\u00f6n`), false, "others are looked up all the same");
  await assert.rejects(rules.inCommand("cat a.py", join(disk.root, "shop"), AbortSignal.abort()), { name: "AbortError" });
  await assert.rejects(rules.inArguments({ path: "a.py" }, disk.folders, AbortSignal.abort()), { name: "AbortError" });
});

test("a command that only reads what a rule is about is not run without a question", async () => {
  for (const effect of ["deny", "ask"] as const) {
    await using disk = await workspace([{ ...DENY, effect }]);
    for (const command of ["cat src/keys/b.py", "cat link/b.py", "ls src/keys", "ls src"]) assert.ok((await disk.call("run_command", { command })).isError, command);
    assert.equal(disk.cards.length, effect === "deny" ? 1 : 4);
  }
});

test("paths, addresses and commands among the arguments of another extension's tool are looked at", async () => {
  await using disk = await workspace([]);
  const rules = await FileRules.of([DENY], disk.folders);
  const names = async (given: Record<string, unknown>) => (await rules.inArguments(given, disk.folders, NEVER)) !== undefined;
  const file = join(disk.root, "shop/src/keys/b.py");
  for (const given of [{ filePath: file }, { edits: [{ uri: pathToFileURL(file).href }] }, { path: "src/Keys/b.py" }, { path: " src/keys/b.py\r\n" }, { path: `src/keys/b.py${" ".repeat(5000)}` }, { command: "cd src && cat keys" }, { a: { b: ["link"] } }]) assert.ok(await names(given), JSON.stringify(given));
  for (const given of [{ path: "a.py" }, { text: "src/keys/b.py\nis named here" }, { text: "x".repeat(1_000_000) }, { count: 3 }, {}]) assert.ok(!(await names(given)), JSON.stringify(given).slice(0, 80));
});

test("a refusal wins over a question, wherever either is named, and of two rules the one of the longer path", async () => {
  await using disk = await workspace([], ["shop", "other"]);
  const [shop = "", other = ""] = disk.folders;
  const rules = await FileRules.of([{ effect: "ask", tool: FILES, path: "asked" }, { effect: "ask", tool: FILES, path: "asked/deep" }, { effect: "deny", tool: FILES, path: "denied", place: { folder: other, path: "denied" } }], disk.folders);
  const ruled = async (given: Record<string, unknown>) => {
    const { rule, isHidden } = (await rules.inArguments(given, disk.folders, NEVER)) ?? {};
    return [rule?.effect, rule?.path, isHidden];
  };
  for (const given of [{ command: "cat asked", path: "denied" }, { command: "cat asked denied" }, { path: "asked", file: "denied" }, { command: "cd x && cat denied" }]) assert.deepEqual(await ruled(given), ["deny", "denied", false], JSON.stringify(given));
  assert.deepEqual(await ruled({ command: "cat asked && cat $X/denied" }), ["deny", "denied", true]);
  assert.deepEqual(await ruled({ command: "cat asked" }), ["ask", "asked", false]);
  assert.deepEqual(await ruled({ path: "asked/deep/a.py" }), ["ask", "asked/deep", false]);
  assert.deepEqual([await rules.inCommand("cat asked; cat $X/denied", shop, NEVER), rules.at(join(shop, "asked/deep"))].map((each) => each?.rule.path), ["denied", "asked/deep"]);
});

test("a tool that only reads is refused or asked about by a rule about it", async () => {
  for (const [effect, text, cards] of [["deny", /refuses this: read_file/, []], ["ask", /did not allow/, ["Use read_file"]], ["allow", /one/, []]] as const) {
    await using disk = await workspace([{ effect, tool: "read_file" }]);
    disk.settings = { ...disk.settings, policy: "never" };
    assert.match((await disk.call("read_file", { path: "a.py" })).text, text);
    assert.deepEqual(disk.cards, cards);
  }
});
