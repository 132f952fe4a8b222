/** What Git excludes is excluded, in time that no pattern prolongs. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { isExcluded, IgnoreRules, LONGEST_FILE } from "../../src/ignoring/rules";

const NAMES = ["a", "b", "d", "ab", "aab", "a.b", "c", "-", "]", "B"];
const PIECES = [...Array.from("abcB.-]!#\\ "), "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^-a]", "[]a]", "[a-c]", "[[:upper:]]"];
/**
 * Two stars after a literal beginning that ends within a name: regular stars by Git's documentation. But Git cuts the
 * literal beginning off before it matches, so that `a**` + `/b` excludes `ab` and `ax/y/b` too.
 */
const GIT_DIFFERS = /^[^*?[\\]*[^/*?[\\]\*\*/;

/** Numbers below a bound, the same in each run: a linear congruential generator. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

function excludedByGit(folder: string, paths: readonly string[], ignoresCase: boolean): Set<string> {
  const settings = ["-c", "core.excludesFile=/dev/null", "-c", `core.ignoreCase=${ignoresCase}`];
  const { status, stdout, stderr } = spawnSync("git", [...settings, "check-ignore", "--no-index", "-z", "--stdin"], { cwd: folder, input: paths.map((path) => `${path}\0`).join(""), encoding: "utf8" });
  assert.ok(status === 0 || status === 1, stderr);
  return new Set(stdout.split("\0").filter((path) => path !== ""));
}

test("what Git excludes is excluded, by patterns and paths at random", async () => {
  const folder = await mkdtemp(join(tmpdir(), "coppice-"));
  try {
    execFileSync("git", ["init", "-q", folder]);
    await mkdir(join(folder, "d"));
    const below = numbers(7);
    const pick = (all: readonly string[]): string => all[below(all.length)] ?? "";
    const many = <T>(least: number, most: number, one: () => T): T[] => Array.from({ length: least + below(most - least + 1) }, one);
    const line = (): string => {
      const drawn = many(1, 8, () => pick(PIECES)).join("");
      return GIT_DIFFERS.test(drawn) ? line() : drawn;
    };
    let excluded = 0;
    for (let round = 0; round < 60; round += 1) {
      const [outer, inner] = [many(0, 5, line).join("\n"), many(0, 3, line).join("\r\n")];
      await Promise.all([writeFile(join(folder, ".gitignore"), outer), writeFile(join(folder, "d", ".gitignore"), inner)]);
      const paths = many(20, 30, () => many(1, 4, () => pick(NAMES)).join("/")).filter((path) => path !== "d");
      const rules = [{ folder: "", rules: IgnoreRules.of(outer, false) }, { folder: "d", rules: IgnoreRules.of(inner, false) }];
      const byGit = excludedByGit(folder, paths, false);
      assert.deepEqual(new Set(paths.filter((path) => isExcluded(path, rules))), byGit, JSON.stringify({ outer, inner }));
      excluded += byGit.size;
    }
    assert.ok(excluded > 100, "hardly any pattern matched");
    const cases = "Local/\n[a-c]x\n*.LOG\n!Keep.log\n";
    await rm(join(folder, "d", ".gitignore"));
    await writeFile(join(folder, ".gitignore"), cases);
    const paths = ["local/x", "LOCAL/y", "Ax", "bX", "dx", "a.Log", "keep.LOG", "other"];
    assert.deepEqual(new Set(paths.filter((path) => isExcluded(path, [{ folder: "", rules: IgnoreRules.of(cases, true) }]))), excludedByGit(folder, paths, true));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("patterns that backtracking would try in more ways than can be counted are matched", () => {
  const path = `${"a/".repeat(400)}c`;
  const rules = IgnoreRules.of(`/${"**/a/".repeat(40)}**/b\n${"*a".repeat(100)}*b\n`);
  assert.equal(isExcluded(path, [{ folder: "", rules }]), false);
  assert.equal(isExcluded(`${path}/b`, [{ folder: "", rules }]), true);
  assert.equal(isExcluded("a".repeat(255), [{ folder: "", rules }]), false);
});

test("rules over a limit exclude everything", () => {
  assert.notEqual(IgnoreRules.of("x\n".repeat(LONGEST_FILE / 2)), undefined);
  assert.equal(IgnoreRules.of(`${"x\n".repeat(LONGEST_FILE / 2)}x`), undefined);
  assert.equal(IgnoreRules.of("*a".repeat(200)), undefined);
  const long = { folder: "", rules: IgnoreRules.of("x\n".repeat(LONGEST_FILE / 2)) };
  assert.deepEqual([1, 4, 5].map((count) => isExcluded("a", Array.from({ length: count }, () => long))), [false, false, true]);
  assert.equal(isExcluded("a", [{ folder: "", rules: undefined }]), true);
  assert.equal(isExcluded("a", [{ folder: "b", rules: undefined }]), false);
});

test("rules about the opened folder itself do not count, those about what is below it do", () => {
  const all = [{ folder: "", rules: IgnoreRules.of("shop/\n*.log\n/shop/lib/private\n") }];
  const excluded = (path: string): boolean => isExcluded(path, all, { below: "shop" });
  assert.deepEqual(["shop/a", "shop/a.log", "shop/lib/private/x"].map(excluded), [false, true, true]);
});
