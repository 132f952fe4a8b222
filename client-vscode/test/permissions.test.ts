import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import type { ApprovalRequest } from "../src/approvals/approval";
import { Approvals } from "../src/approvals/approvals";
import { describe, isAbout, proposalOf, readRules, type Rule } from "../src/permissions/rule";
import { Rules } from "../src/permissions/rules";
import { couldHide, plainWords, possibleWords } from "../src/permissions/words";

const ALLOWED = { allowed: true };
const NPM_TEST: Rule = { effect: "allow", tool: "run_command", words: ["npm", "test"], directory: "." };

function memory(value: unknown = []) {
  return { value, read() { return this.value; }, write(rules: unknown) { this.value = structuredClone(rules); } };
}

function runs(command: string, more: Partial<ApprovalRequest> = {}, directory = "."): ApprovalRequest {
  return { conversationId: "a", toolCallId: "c", tool: "run_command", title: "Run a command", scope: command, details: [{ kind: "command", command, directory }], ...more };
}

function edits(path: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return { conversationId: "a", toolCallId: "c", tool: "edit_file", title: `Edit ${path}`, scope: "edit_file", details: [{ kind: "diff", path, isNew: false, hunks: [] }], ...more };
}

/** Lines made of `npm test` and each of these, before, after and around it. */
function hostile(): string[] {
  const operators = [";", "|", "&", "&&", "||", "|&", ";;", "\n", "\r", "\r\n", "\u2028", "\u000b", "\u0000", "\u00a0;", "`", "$", "(", ")", "{", "}", "<", ">", ">>", "<<", "<<<", "<(", ">(", "2>", "&>", "#", "!", "~", "*", "?", "[", "]", "^", "%", "\\", "'", "\""];
  const around = operators.flatMap((each) => [`npm test${each}id`, `npm test ${each} id`, `npm test ${each}id`]);
  const expansions = [
    "$(id)", "`id`", "$HOME", "${HOME}", "$((1))", "$'\\x3bid'", "$\"x\"", "<(id)", ">(id)", "{a,b}", "~root", "*.js", "a?b", "[ab]", "%COMSPEC%", "!id", "^id", "\"$(id)\"", "\"`id`\"", "\"$HOME\"", "\"a\\\"; id; \\\"\"",
    "a\\ b", "'a'b", "a'b'", "'a'\"b\"", "'a' 'b", "\"a", "'a", "=ls", "x\u202ey", "x\u200by", "\ttest", "a\\", "@(a|b)$(id)", "'\n'", "\"\n\"", "'\u202e'", "\"!id\"", "\"%PATH%\"",
  ];
  const prefixes = [
    "npm  tes't'", "npmtest", "npm-test", "npm tests", "npm run test", "NPM test", "npm TEST", "npm test: --", "./npm test", "/tmp/npm test", "../npm test", "npm --prefix /tmp test", "npm -C /tmp test", "npm exec test",
    "sudo npm test", "env npm test", "PATH=/tmp npm test", "A=1 npm test", "A+=1 npm test", "A='x y' npm test", "command npm test", "exec npm test", "nohup npm test", "time npm test", "! npm test", "{ npm test; }", "(npm test)",
    "if npm test; then id; fi", "eval npm test", ". npm test", "sh -c 'npm test'", "bash -c \"npm test; id\"", "xargs npm test", "npx npm test", "nice npm test", "\\npm test", "npm\\ test", "'npm test'", "\"npm test\"", "'npm' 'test;id'x",
    "npm t", "npm tst", "npm", "", " ", "npm 'test ' ", "npm test\u00a0", "n\u0440m test", "npm t\u0435st", "id; npm test", "id && npm test", "id | npm test", "npm test & id", "test npm", "'' npm test",
  ];
  const options = ["--script-shell=/tmp/x", "--script-shell /tmp/x", "--prefix /tmp", "--prefix=/tmp", "-C /tmp", "--node-options=--require=/tmp/x", "--userconfig=/tmp/x", "SHELL=/tmp/x", "--ignore-scripts=false", "-w ../x", "--workspace ../x", "--workspace packages/x", "-P", "-- ; id", "-- $(id)", "-- > x", "-- a|b",
    "-- '.SHELLFLAGS=-c \"id\";'", "-- SHELL=/tmp/x", "-- --globalSetup=/tmp/x.js", "-- --globalSetup /tmp/x.js", "-- -c /tmp/x", "-- -- --grep x", "a -- '--require=x'", "@/tmp/options", "-- @/tmp/options", "/tmp/evil.test.js", "-- /tmp/evil.test.js", "../evil", "a/../../evil", "..", "file:///tmp/evil.mjs", "'C:\\evil.js'", "C:/evil.js"];
  return [...around, ...expansions.map((each) => `npm test ${each}`), ...prefixes, ...options.map((each) => `npm test ${each}`)];
}

/** Lines that run something else by options of these commands. */
const HOSTILE_OPTIONS = {
  "pytest": ["-p evil", "-pevil", "-xp evil", "-c evil.ini", "-o python_files=evil", "-k x", "-m x", "--tb=evil", "--rootdir x", "--confcutdir x", "--pyargs evil", "--import-mode importlib", "--pdb", "--pdbcls=a:b", "--pastebin all", "--junitxml x", "--basetemp x", "--trace", "--coverage", "-- -p evil", "'a b' -p x", "deploy.py", "notes.rst", "data.txt", "vendor/pkg", "-- deploy.py", "deploy.py::test_a", "x/test_a.txt", "test_a.py/deploy.py", "a:test_a.py"],
  "git log": ["-p", "--patch", "--output=x", "--output x", "--ext-diff", "--textconv", "--stat", "-v", "--verbose", "--help", "-S x", "-G x", "-L 1,2:x", "-n1 -p", "--show-signature", "--no-index a b", "--format x", "--exec x", "-O x", "-- -p", "HEAD:../x/../.."],
};
const HOSTILE: Record<string, readonly string[]> = { ...HOSTILE_OPTIONS, "python -m pytest": HOSTILE_OPTIONS.pytest, "python3 -m pytest": HOSTILE_OPTIONS.pytest, "git status": HOSTILE_OPTIONS["git log"] };

for (const [command, options] of Object.entries(HOSTILE)) {
  test(`no hostile line passes as ${command} …`, () => {
    const rule = proposalOf(runs(command));
    assert.deepEqual(rule, { effect: "allow", tool: "run_command", words: command.split(" "), directory: "." });
    const lines = [...hostile().filter((line) => !/^(['"])npm test\1$/.test(line)).map((line) => line.replaceAll("npm test", command)), ...options.map((each) => `${command} ${each}`), `x ${command}`, `${command}x`, command.toUpperCase(), "git -c core.pager=id log", "git -C /tmp status", "git diff", "python -c x", "python -m pdb"];
    assert.ok(new Set(lines).size >= 200);
    for (const line of lines) assert.ok(!isAbout(rule, runs(line)), JSON.stringify(line));
    for (const line of [command, `${command} tests/test_a.py`, `${command} -- a_test.py 'tests/test_b.py::test_c[1 2]'`]) assert.ok(isAbout(rule, runs(line)), line);
  });
}

test("no hostile line passes as npm test …", () => {
  const lines = hostile();
  assert.ok(new Set(lines).size >= 200, String(new Set(lines).size));
  for (const line of lines) assert.ok(!isAbout(NPM_TEST, runs(line)), JSON.stringify(line));
  for (const line of ["npm test", "npm test", "  npm   test ", "npm test a.test.ts", "npm test -- x", "npm test --", "npm test -- --coverage a.test.ts", "npm test 'a b; c'", "npm test \"a b\"", "'npm' test", "npm test --silent", "npm test ./...", "npm test a/b..c", "npm test orders::total"]) {
    assert.ok(isAbout(NPM_TEST, runs(line)), JSON.stringify(line));
  }
  assert.ok(!isAbout(NPM_TEST, runs("npm test", {}, "other")), "in another folder");
  assert.ok(!isAbout(NPM_TEST, runs("npm test", { tool: "terminal" })), "by another tool");
});

test("the words of a line are what a shell makes of them, or none", () => {
  assert.deepEqual(plainWords("a 'b c' \"d\" e=f", false), ["a", "b c", "d", "e=f"]);
  assert.deepEqual(plainWords("a b", true), ["a", "b"]);
  assert.equal(plainWords("a 'b & calc'", true), undefined);
  for (const line of ["a".repeat(5000), "'".repeat(3999), "' ".repeat(1999), "\"a\"".repeat(1300)]) assert.equal(plainWords(line, false), undefined);
});

test("a rule that refuses sees its command however it is wrapped, and wins over every other", async () => {
  const rules = new Rules({ workspace: memory(), always: memory() });
  const deny: Rule = { effect: "deny", tool: "run_command", words: ["git", "push"] };
  rules.add({ rule: { effect: "allow", tool: "run_command", words: ["git", "push"] }, reach: "workspace" });
  assert.equal(rules.decide(runs("git push"))?.effect, "allow");
  rules.add({ rule: { ...deny, directory: "." }, reach: "always" });
  for (const line of ["git push", "cd x && git push", "(git push)", "sh -c 'git push'", "g\\it pu''sh", "/usr/bin/git push", "A=1 git push", "git \\\n push", "echo `git push`", "git -C . push", "git --no-pager push", "cd x; git -c a.b='c d' -C y push", "git.exe push", "C:\\Git\\bin\\GIT.EXE push", "git -C my\\ dir push", "git -C \"my dir\" push", "git {push,}", "git pus?", "git p*", "git [p]ush", "x=push; git $x", "git \"$x\"", "git ${x}sh"]) assert.equal(rules.decide(runs(line))?.effect, "deny", line);
  for (const line of ["git pull", "git stash push", "git commit push", "git log x push", "git -C . stash push", "git-push", "git log $x", "git --no-pager diff *.py", "git --no-pager diff '*'", "git pull{,s}", "echo $HOME", "git -C $HOME/shop status", "git -C \"$dir/shop\" log", "git \\$x"]) assert.equal(rules.decide(runs(line))?.effect, undefined, line);
  const approvals = new Approvals(memory(), rules);
  for (const policy of ["never", "firstUse", "always"] as const) {
    assert.deepEqual(await approvals.approve(runs("git push"), policy), { allowed: false, reason: "A rule of the user's refuses this: run_command `git push …` in .." });
  }
});

test("a rule that refuses sees what backticks, braces in braces and programs with input make of a line", () => {
  const rules = new Rules({ workspace: memory(), always: memory() });
  rules.add({ rule: { effect: "allow", tool: "run_command" }, reach: "workspace" });
  rules.add({ rule: { effect: "deny", tool: "run_command", words: ["git", "push"] }, reach: "workspace" });
  const decided = (line: string) => rules.decide(runs(line))?.effect;
  const substituted = ["git $(cat p)", "git pu$(echo sh)", "git pu$()sh", "git \"$(cat p)\"", "git -c x=y $(cat p)", "echo \"don't\"; git $(cat 'a b')", "echo 'it''s'; git \"$(cat \"a b\")\" 'x'", "find . -exec git $(cat p) \\;"];
  for (const line of substituted) {
    assert.equal(decided(line), "deny", line);
    const ticked = line.replace(/\$\((.*?)\)/, "`$1`");
    assert.equal(decided(ticked), "deny", ticked);
  }
  assert.deepEqual(possibleWords("git \"don't `a` won't\"").at(-1), possibleWords("git \"don't $(a) won't\"").at(-1));
  const denied = [
    ...["echo `git \\`cat p\\``", "echo `a \\`git \\\\\\`cat p\\\\\\`\\``", "echo 'a`b'; git `cat p`", "echo \\`; git `cat p`", "git`` -c 'a b' p*"],
    ...["git {pu{sh,},-v}", "git {{push,x},}", "git pu{x,{y,{s,}}}h", "git {a{b}c,push}"],
    ...["cat p | xargs git", "xargs -a p git", "xargs git<p", "xargs<p git", "xargs git 2>x <p", "(xargs -n 1 /usr/bin/git -C .)", "'xargs' git; ls", "ls | xargs -I% git % x", "ls | xargs -I '{}' git '{}' x"],
    ...["cat p | parallel git", "parallel git :::: p", "parallel git ::: push", "parallel git {.} x :::: p"],
  ];
  for (const line of denied) assert.equal(decided(line), "deny", line);
  for (const line of ["env -S 'git -C \"a b\" push'", "env -iS'git -C \"a b\" push' x", "env --split-string 'git -C \"a b\" push'", "parallel 'git -C \"a b\" push'"]) assert.equal(decided(line), "ask", line);
  const others = [
    ...["git log `cat p`", "git '`cat p`'", "git \\`cat p\\`", "git `cat p", "git stash@{0}", "git {a}b,c", "git {a}{b,c}", "git pull{,{s,}}", "git p{x{s,},-v}t"],
    ...["ls | xargs git add", "ls | xargs rm", "find . -exec git {} x \\;", "find . -name git -exec rm {} +", "find git -exec rm '{}' \\;", "parallel git add ::: a", "git xargs", "git {}", "env A=1 git log push", "env | xargs git add"],
  ];
  for (const line of others) assert.equal(decided(line), "allow", line);
  for (const line of ["cat p | xargs sudo -u a git", "cat p | parallel nice -n 5 git"]) assert.equal(decided(line), "deny", line);
  for (const line of ["ls | xargs grep git", "cat p | xargs -n 1 strace git"]) assert.equal(decided(line), "ask", line);
  for (const part of ["`", "\\`", "\"`", "`\"", "'`\"'", "\" ' ` ", "{", "{a,", "{}", "xargs ", "xargs -Ia a ", " -exec {}", "a 1 ", "<", " :::", "git `"]) {
    for (const before of ["", "xargs ", "git `\""]) decided(before + part.repeat(20_000));
  }
});

test("what a rule refuses is asked about where a line could hide it, in every mode and whatever allows it", () => {
  const decided = (words: string[], line: string, effect: Rule["effect"] = "deny") => {
    const rules = new Rules({ workspace: memory(), always: memory() });
    rules.add({ rule: { effect: "allow", tool: "run_command" }, reach: "workspace" });
    rules.add({ rule: { effect, tool: "run_command", words }, reach: "workspace" });
    return rules.decide(runs(line))?.effect;
  };
  const hiding = ["git status # don't\ngit >x push", "git >x push", "git 2> x push", "git <x push", "G=git; $G push", "$G push", "\"$G\" push", "`echo git` push", "\"`echo git`\" push", "$(printf git) push", "sudo $G push", "echo push | xargs git", "git --no-pager log | grep push", "p=push; git log; git $p x", "git $(echo push)", "/usr/bin/git >x push", "C:\\Git\\git.exe >x push", "g''it >x pu\\sh", "git >x \\\npush", "GIT >x push", `git >x push # ${"x".repeat(5000)}`];
  for (const line of hiding) assert.match(decided(["git", "push"], line) ?? "", /^(?:ask|deny)$/, line);
  for (const line of hiding) assert.match(decided(["git", "push"], line, "ask") ?? "", /^ask$/, line);
  for (const line of ["git log; git pull", "cat x | grep push", "git stash push", "$G pull", "echo git"]) assert.equal(decided(["git", "push"], line), "allow", line);
  for (const line of ["npm test; id", "$X"]) assert.equal(decided(["="], line), "allow", "a rule of separators only");
});

/** Lines in which a variable, a substitution or a pattern may be the program. */
const OPEN = [
  "$X -rf a", "cd a; $X", "A=1 >x $X", "> x $X", "if $X; then :; fi", "! `cat x`", "\"$X\" a", "$(cat x) a", "\"$(cat x)\" a", "\"`cat x`\" a", "`/bin/cat x` a", "r`echo m` a", "echo `$X`", "echo `a \\`$X b\\``", "r{m,} a", "/bin/r? a", "cd /bin; [r]m -rf x", "(cd a && $X b)", "{ $X; }", "f() { $X a; }",
  "sudo $X -rf a", "sudo -u root $X a", "env $X a", "env -i A=1 $X a", "exec $X", "command $X", "nohup $X &", "time $X", "timeout -k 1 5 $X a", "nice -n 5 $X a", "ls | xargs $X", "ls | xargs -n 1 $X", "/usr/bin/sudo $X a", "find . -exec $X {} +", "find . -type f -execdir sudo $X {} ';'",
  "2>&1 $X a", ">&2 $X a", ">|f $X a", "powershell -Command \"cd a; & $X b\"", "ash -c 'cd a; $X b'", "& C:\\bin\\$X a",
  "eval \"$X\"", "eval 'cd a; $X'", "sh -c \"$X\"", "bash -lc 'cd a; $X b'", "ls | xargs sh -c 'cd a; $X b'", "trap '$X' EXIT; a", "\"${X#/}\" a", "$X/r* a", "$'\\x72m' a", "echo 'a\\'; $X ; 'b'",
  "ls # don't\n$X -rf a # '", "cat <<E\ndon't\nE\n$X a '", "echo \"$(echo \"a\" ; $X)\"", "echo \"a ${x:-\"'\"}\"; $X -rf a '", "echo `echo \\\\'; $X; \\\\'`", "echo \"a; $X a", "echo \\\"; $X a; \\\"", "echo 'a' ; $X ; 'b'",
  "my\\ dir/$X `date`", "echo \"`$X`\"", "parallel 'cd a; $X b'", "env -iS '-u A $X b'",
];
/** Lines in which no other than the programs that are named can run. */
const CLOSED = [
  "for x in *.ts; do cat \"$x\"; done", "[ -f a ] && cat a", "[[ -f $x ]] && cat a", "echo $HOME", "cat <x | wc -l", "A=$x make", "A=$(date) && echo $A", "{ ls; } > $x", "! [ -f a ] || ls",
  "grep -rE \"foo|ba.*\" src | head", "sed 's/(.*)/x/' a > b", "sed 's/\\(.*\\)/x/' a > b", "jq '.items | .[0]' a.json | head", "awk '{ if (x) print; $1=2 }' f | sort", "echo \"Total ($n files)\" && ls", "echo \"Total (${n} files)\" && ls",
  "\"$VIRTUAL_ENV/bin/python\" -m pytest", "$HOME/bin/tool a", "npm run build && cp dist/* out/", "grep -rn \"array.push(\" src/*.js", "find . \\( -name '*.ts' -o -name '*.js' \\) | head", "find . -name '*.ts' -exec wc -l {} +", "ls *.ts | xargs -I{} cp {} $x",
  "ls | xargs -n 1 wc -l $x", "sh a.sh $x", "echo `date` && ls", "echo \"$(git rev-parse HEAD)\" && ls", "grep 'a$' b | head", "make > \"$x\" && ls", "echo a\\;$x | cat", "time make $x && ls",
];

test("only where a line leaves a program open could it hide what a rule of any length refuses", () => {
  for (const line of OPEN) assert.ok(couldHide(line, ["docker"]), line);
  for (const line of CLOSED) assert.ok(!couldHide(line, ["docker"]), line);
  for (const line of OPEN) assert.ok(couldHide(`${line}\necho run`, ["docker", "run"]), line);
  for (const line of CLOSED) assert.ok(!couldHide(`${line}\necho run`, ["docker", "run"]), line);
  for (const part of ["'", "\"", "\\\"", "\"${", "`", "$(", "{", "[", "- ", " -exec ", "sudo ", "<", "a/"]) couldHide(part.repeat(50_000), ["docker"]);
});

test("a rule that refuses sees words with separators, however they are quoted", () => {
  const cases = [
    ["git -c core.pager=x push", "cd a; git -c 'core.pager=x' push", "git -c core.pager=y push"],
    ["npm config set registry=http://e", "npm config set \"registry=http://e\" && id", "npm config get registry"],
    ["git commit -m 'a b'", "(git commit -m \"a b\")", "git commit -m 'a c'"],
    ["make CC=gcc", "make CC=gc\\c test", "make CC=clang"],
    ["curl --data=x", "/usr/bin/curl --data=x y | sh", "curl --data=y"],
    ["git stash drop 'stash@{0}'", "git stash drop stash@{0}", "git stash drop stash@{1}"],
    ["git log \"it's\"", "git log it\\'s", "git log its's"],
    ["test a '=' b", "[ ] && test a = b", "test a = c"],
    ["x '='", "x '=' y", "y '='"],
  ] as const;
  for (const effect of ["deny", "ask"] as const) {
    for (const [line, wrapped, other] of cases) {
      const rule: Rule = { effect, tool: "run_command", words: plainWords(line, false) ?? [] };
      assert.deepEqual([line, wrapped, other].map((each) => isAbout(rule, runs(each))), [true, true, false], line);
    }
    assert.ok(!isAbout({ effect, tool: "run_command", words: ["="] }, runs("npm test")), "a rule of separators only");
  }
});

test("a rule that refuses a folder holds in whatever case its path is written, one that allows it does not", () => {
  const about = (effect: Rule["effect"], path: string) => isAbout({ effect, tool: "edit_file", path: "src/Keys" }, edits(path));
  assert.deepEqual(["src/Keys/a", "SRC/keys/a", "src/keys", "src/Keysmith/a"].map((path) => about("deny", path)), [true, true, true, false]);
  assert.deepEqual(["src/Keys/a", "SRC/keys/a"].map((path) => about("allow", path)), [true, false]);
});

test("a rule about a place of one workspace folder holds in no other of its name, and in its own however it is shown", () => {
  const of = (folder: string, prefix = "", path = "src/a.ts") => ({
    edit: edits("", { details: [{ kind: "diff", path: `${prefix}${path}`, place: { folder, path }, isNew: false, hunks: [] }] }),
    run: runs("npm test", { details: [{ kind: "command", command: "npm test", directory: `${prefix}src`, place: { folder, path: "src" } }] }),
  });
  const [first, second, alone] = [of("/one/shop", "shop/"), of("/two/shop", "shop/"), of("/one/shop")];
  for (const kind of ["edit", "run"] as const) {
    const rules = new Rules({ workspace: memory(), always: memory() });
    const allow = proposalOf(first[kind]);
    assert.ok(allow);
    rules.add({ rule: allow, reach: "workspace" });
    const effects = () => [first, second, alone].map((each) => rules.decide(each[kind])?.effect);
    assert.deepEqual(effects(), ["allow", undefined, "allow"], kind);
    rules.add({ rule: { ...proposalOf(second[kind]) ?? allow, effect: "deny" }, reach: "workspace" });
    assert.deepEqual(effects(), ["allow", "deny", "allow"], kind);
    const unplaced = { ...allow, place: undefined };
    assert.deepEqual((["allow", "ask", "deny"] as const).map((effect) => isAbout({ ...unplaced, effect }, first[kind])), [false, true, true], "of an earlier version");
  }
});

/** An edit and a command in `path` of a workspace folder, which is shown with `prefix`. */
function inFolder(folder: string, path: string, prefix = "") {
  const shown = `${prefix}${path}` || ".";
  return {
    edit: edits("", { details: [{ kind: "diff", path: `${prefix}${path === "" ? "" : `${path}/`}a.ts`, place: { folder, path: path === "" ? "a.ts" : `${path}/a.ts` }, isNew: false, hunks: [] }] }),
    run: (command: string) => runs(command, { details: [{ kind: "command", command, directory: shown, place: { folder, path } }] }),
  };
}

test("a rule for another path of a folder does not take the place of one that is shown in the same way", () => {
  const rules = new Rules({ workspace: memory(), always: memory() });
  const own = (effect: Rule["effect"], path: string): Rule => ({ effect, tool: "edit_file", path: "shop/src", place: { folder: "/shop", path } });
  rules.add({ rule: own("deny", "shop/src"), reach: "workspace" });
  rules.add({ rule: own("allow", "src"), reach: "workspace" });
  assert.deepEqual(["src", "shop/src"].map((path) => rules.decide(inFolder("/shop", path).edit)?.effect), ["allow", "deny"]);
});

test("a rule that refuses everywhere in the workspace does so in every folder, one that allows in its own", () => {
  const everywhere: Rule = { effect: "deny", tool: "edit_file", path: "", place: { folder: "/shop", path: "" } };
  const other = inFolder("/other", "src", "other/").edit;
  assert.deepEqual((["deny", "ask", "allow"] as const).map((effect) => isAbout({ ...everywhere, effect }, other)), [true, true, false]);
});

test("a rule of an earlier version refuses what it was shown for, also where names of folders are shown now", () => {
  for (const effect of ["deny", "ask", "allow"] as const) {
    const isHeld = effect !== "allow";
    const about = (rule: Partial<Rule>, request: ApprovalRequest) => isAbout({ effect, tool: request.tool, ...rule }, request);
    const [root, source, other] = ["", "src", "lib"].map((path) => inFolder("/shop", path, "shop/"));
    assert.ok(root && source && other);
    assert.deepEqual([source, other].map(({ edit }) => about({ path: "src" }, edit)), [isHeld, false]);
    assert.deepEqual([root, source, other].map(({ run }) => about({ words: ["make"], directory: "src" }, run("make"))), [false, isHeld, false]);
    assert.deepEqual([root, source, other].map(({ run }) => about({ words: ["make"], directory: "." }, run("make"))), [isHeld, false, false]);
  }
});

test("a line that goes to the folder of a rule is asked about", () => {
  const rules = new Rules({ workspace: memory(), always: memory() });
  rules.add({ rule: { effect: "allow", tool: "run_command" }, reach: "workspace" });
  rules.add({ rule: { effect: "deny", tool: "run_command", words: ["npm", "publish"], directory: ".", place: { folder: "/shop", path: "" } }, reach: "workspace" });
  const decided = (path: string, command: string) => rules.decide(inFolder("/shop", path).run(command))?.effect;
  assert.deepEqual([decided("", "npm publish"), decided("src", "npm publish"), decided("src", "cd .. && npm publish")], ["deny", "allow", "ask"]);
});

test("a rule that asks asks in every mode, also for what was allowed for the conversation", async () => {
  const rules = new Rules({ workspace: memory(), always: memory() });
  const approvals = new Approvals(memory(), rules);
  const first = approvals.approve(runs("make"), "firstUse");
  approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "allowConversation" });
  assert.deepEqual(await first, ALLOWED);
  rules.add({ rule: { effect: "ask", tool: "run_command", words: ["make"] }, reach: "conversation", conversationId: "a" });
  void approvals.approve(runs("make"), "firstUse");
  void approvals.approve(runs("make"), "never");
  assert.deepEqual(approvals.pending().map(({ proposal }) => proposal), [undefined, undefined]);
});

test("a line that could hide what a rule is about can be allowed for the conversation, and its card says why it is asked", async () => {
  const cases = [["deny", "denies"], ["ask", "asks about"]] as const;
  for (const [effect, says] of cases) {
    const rules = new Rules({ workspace: memory(), always: memory() });
    rules.add({ rule: { effect, tool: "run_command", words: ["rm"] }, reach: "always" });
    const approvals = new Approvals(memory(), rules);
    const both = [approvals.approve(runs("ls; $X a"), "never"), approvals.approve(runs("ls; $X a"), "firstUse")];
    assert.deepEqual(approvals.pending().map(({ reason }) => reason), Array.from(both, () => `A rule ${says} run_command \`rm …\`, which this line could hide.`));
    approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "allowConversation" });
    assert.deepEqual(approvals.pending(), []);
    assert.deepEqual(await Promise.all(both), [ALLOWED, ALLOWED]);
    for (const policy of ["never", "firstUse"] as const) assert.deepEqual(await Promise.race([approvals.approve(runs("ls; $X a"), policy), setImmediate()]), ALLOWED);
    void approvals.approve(runs("ls; $X a", { conversationId: "b" }), "never");
    void approvals.approve(runs("ls; $X b"), "never");
    void approvals.approve(runs("ls; $X a"), "always");
    assert.equal(approvals.pending().length, 3);
  }
});

test("what a card proposes holds where it was said, answers what waits, and outlives the window", async () => {
  const [workspace, always] = [memory(), memory()];
  const approvals = new Approvals(memory(), new Rules({ workspace, always }));
  const both = [approvals.approve(runs("npm test"), "firstUse"), approvals.approve(runs("npm test a", { conversationId: "b" }), "firstUse")];
  assert.equal(approvals.pending()[0]?.proposal, "run_command `npm test …` in .");
  approvals.decide(approvals.pending()[0]?.id ?? "", { kind: "allowRule", reach: "workspace" });
  assert.deepEqual(await Promise.all(both), [ALLOWED, ALLOWED]);
  assert.deepEqual([workspace.value, always.value], [[NPM_TEST], []]);

  const later = new Approvals(memory(), new Rules({ workspace, always }));
  assert.deepEqual(await later.approve(runs("npm test b"), "firstUse"), ALLOWED);
  void later.approve(runs("npm test b"), "always");
  void later.approve(runs("npm test b", { scope: null }), "always");
  assert.equal(later.pending().length, 2);

  const inConversation = new Approvals(memory(), new Rules({ workspace: memory(), always: memory() }));
  const asked = inConversation.approve(edits("src/a.ts"), "firstUse");
  inConversation.decide(inConversation.pending()[0]?.id ?? "", { kind: "allowRule", reach: "conversation" });
  assert.deepEqual(await asked, ALLOWED);
  assert.deepEqual(await inConversation.approve(edits("src/b/c.ts", { tool: "write_file" }), "firstUse"), ALLOWED);
  void inConversation.approve(edits("src/a.ts", { conversationId: "b" }), "firstUse");
  void inConversation.approve(edits("srcs/a.ts"), "firstUse");
  assert.equal(inConversation.pending().length, 2);
});

test("a rule about a folder or a file of its workspace is never one of every workspace", async () => {
  const ofWorkspace: Rule[] = [NPM_TEST, { effect: "allow", tool: "edit_file", path: "" }, { effect: "allow", tool: "edit_file", path: "src" }];
  const others: Rule[] = [{ effect: "deny", tool: "edit_file", path: "src" }, { effect: "ask", tool: "run_command", words: ["git"], directory: "." }, { effect: "allow", tool: "fetch" }, { effect: "allow", tool: "run_command", words: ["ls"] }];
  const always = memory([...ofWorkspace, ...others]);
  const rules = new Rules({ workspace: memory(), always });
  assert.deepEqual(rules.all().map(({ rule }) => rule), others, "as an earlier version has stored them");
  for (const request of [runs("npm test"), edits("a.ts")]) assert.equal(rules.decide(request), undefined);

  const approvals = new Approvals(memory(), new Rules({ workspace: memory(), always: memory() }));
  for (const request of [runs("npm test"), edits("a.ts"), { ...runs("x"), tool: "fetch", details: [], scope: "fetch" }]) void approvals.approve(request, "firstUse");
  assert.deepEqual(approvals.pending().map(({ reaches }) => reaches?.includes("always")), [false, false, true]);
  for (const { id } of approvals.pending()) approvals.decide(id, { kind: "allowRule", reach: "always" });
  for (const request of [runs("npm test"), edits("a.ts")]) void approvals.approve(request, "firstUse");
  assert.equal(approvals.pending().length, 2, "a page that asks for it nevertheless allows one use");
  assert.deepEqual(await approvals.approve({ ...runs("x", { conversationId: "b" }), tool: "fetch", details: [], scope: "fetch" }, "firstUse"), ALLOWED);
});

test("what runs its arguments is proposed word for word, and what has to be seen each time not at all", () => {
  const proposed = (request: ApprovalRequest) => { const rule = proposalOf(request); return rule && describe(rule); };
  const cases = [
    ["cargo test --lib", "run_command `cargo test …` in ."],
    ["npm run lint src", "run_command `npm run lint …` in ."],
    ["go test ./...", "run_command `go test …` in ."],
    ["pytest", "run_command `pytest …` in ."],
    ["pytest -xvs tests/test_a.py::test_b --tb=short --lf", "run_command `pytest …` in ."],
    ["python -m pytest -q tests/a_test.py", "run_command `python -m pytest …` in ."],
    ["git status --short", "run_command `git status …` in ."],
    ["git log --oneline -5 main..HEAD -- src", "run_command `git log …` in ."],
    ["git log -n 3", "run_command `git log …` in ."],
  ] as const;
  for (const [command, rule] of cases) assert.equal(proposed(runs(command)), rule);
  const exactly = [
    "python a.py", "py -m x", "git push origin", "./run test", "npx tsc", "rm -rf build", "npm exec x", "npm run env", "yarn run tsx", "pdm run pytest", "hatch run test", "mise run test", "nix run x", "go run main.go", "cargo run x",
    "watch ls", "busybox ls", "tsx watch", "setsid ls", "strace ls", "stdbuf ls", "parallel ls", "gh pr list", "make", "make test", "just test", "task test", "gradle test", "mvn test", "tool sub",
    "git diff", "git diff --stat", "git log -p", "git status -v", "git stash", "git show", "pytest -k x", "pytest -p x", "python -m venv x", "python -m pytest -c x", "python3.11 -m pytest",
    "npm run lint -- --fix", "cargo test --config x", "npm test @options", "npm test A=1",
  ];
  for (const command of exactly) {
    assert.equal(proposed(runs(command)), `run_command \`${command}\` in .`);
    const rule = proposalOf(runs(command));
    assert.ok(rule && isAbout(rule, runs(command)) && !isAbout(rule, runs(`${command} b`)), command);
  }
  assert.deepEqual(proposalOf(runs("'npm test'")), { effect: "allow", tool: "run_command", words: ["npm test"], exact: true, directory: "." });
  assert.equal(proposed(runs("npm test; id")), undefined);
  assert.equal(proposed(runs("npm test", { scope: null })), undefined);
  assert.equal(proposed(edits("a.ts")), "edit_file everywhere in the workspace");
  assert.equal(proposed({ ...runs("x"), tool: "fetch", details: [], scope: "fetch" }), "fetch");
});

test("rules that cannot be read are no rules", () => {
  assert.deepEqual(readRules([NPM_TEST, { effect: "allow" }, { ...NPM_TEST, effect: "yes" }, { ...NPM_TEST, words: [] }, null, "x"]), [NPM_TEST]);
  const empty = proposalOf(runs("git commit -m ''"));
  assert.deepEqual(readRules([empty]), process.platform === "win32" ? [] : [empty], "an empty word in quotes");
  for (const value of [undefined, null, {}, "[]"]) assert.deepEqual(readRules(value), []);
});
