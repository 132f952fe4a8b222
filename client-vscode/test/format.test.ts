import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { beforeAndAfter, counted, forkName, oneLine, plain, shortTokens, visible } from "../src/format";

test("tokens are short", () => {
  const tried = [0, 999, 1499, 9999, 10_000, 142_310, 1_250_000].map(shortTokens);
  assert.deepEqual(tried, ["0", "999", "1,499", "9,999", "10k", "142k", "1250k"]);
  assert.equal(beforeAndAfter(142_300, 23_100), "142k → 23k tokens");
});

test("things are counted in words", () => {
  assert.equal(counted(1, "entry", "entries"), "1 entry");
  assert.equal(counted(1234, "entry", "entries"), "1,234 entries");
});

test("a line has no breaks, no control characters and no marks that turn the writing", () => {
  assert.equal(oneLine("a\n\tb\u001b[31m\u202ec\u0000 "), "a b [31m c");
  assert.equal(oneLine("x".repeat(20), 10), `${"x".repeat(9)}…`);
  assert.equal(Array.from(oneLine("🌳".repeat(20), 10)).length, 10);
});

test("nothing in a notification is a link, an icon or a hidden character", () => {
  assert.equal(plain("[Open](command:workbench.action.quit) $(warning)"), "[Open] (command:workbench.action.quit) $ (warning)");
  assert.equal(plain("a\u202eb\u001b[31m"), "a<U+202E>b<U+001B>[31m");
  assert.equal(plain("x".repeat(2000)).length, 1001);
});

test("escape sequences and marks that turn the writing show as codes in the log and in lists of files", () => {
  assert.equal(visible("src/\u202egnp.exe\u001b[2K\u200b\r"), "src/<U+202E>gnp.exe<U+001B>[2K<U+200B><U+000D>");
  assert.equal(visible("a\tb\n"), "a\tb\n");
});

test("whatever the server calls hidden shows as a code", () => {
  const source = readFileSync("../server/coppice/escapes.py", "utf8");
  const literals = /^HIDDEN: Final = \(\n((?: +".*"\n)+)\)/m.exec(source)?.[1] ?? "";
  const set = [...literals.matchAll(/"(.*)"/g)].map(([, part = ""]) => part).join("").replace(/\\U000(\w{5})/g, "\\u{$1}");
  const hidden = new RegExp(`[${set}]`, "u");
  const characters = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code)).filter((each) => hidden.test(each));
  assert.ok(characters.length > 300);
  for (const each of characters) assert.match(visible(`a${each}b`), /^a<U\+[0-9A-F]{4,6}>b$/);
});

test("whatever fonts show nothing for shows as a code, the unassigned too", () => {
  const ignorable = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code)).filter((each) => /\p{DI}/u.test(each));
  assert.ok(ignorable.length > 4000);
  for (const each of ignorable) assert.match(visible(`a${each}b`), /^a<U\+[0-9A-F]{4,6}>b$/);
});

test("a fork's name says what it is, and is not taken", () => {
  assert.equal(forkName("Money", new Set(["Money"])), "Money (fork)");
  assert.equal(forkName("Money", new Set(["Money (fork)", "Money (fork 2)"])), "Money (fork 3)");
  assert.equal(forkName("Money (fork 2)", new Set(["Money (fork)", "Money (fork 2)"])), "Money (fork 3)");
});
