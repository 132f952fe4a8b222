import assert from "node:assert/strict";
import { test } from "node:test";

import { CommandOutput, mostOutput } from "../../src/agent/output";

/** What is left of a text that comes in pieces of `size` characters. */
function shown(text: string, size = text.length, limit = 30_000): string {
  const output = new CommandOutput(limit);
  for (let at = 0; at < text.length; at += size) output.add(text.slice(at, at + size));
  return output.text;
}

const CASES: readonly (readonly [what: string, printed: string, seen: string])[] = [
  ["colours", "\u001b[1;31merror\u001b[0m: \u001b[38;5;12mno\u001b[m\n", "error: no\n"],
  ["progress that returns", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
  ["a shorter text over a longer one", "downloading\rdone\n", "doneloading\n"],
  ["the line cleared first", "downloading\r\u001b[Kdone\n", "done\n"],
  ["the whole line cleared", "downloading\u001b[2K\rdone\n", "done\n"],
  ["line ends of Windows", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["backspaces of a spinner", "wait |\b/\b-\b\\\n", "wait \\\n"],
  ["several lines at once", "a: 1\nb: 1\n\u001b[2Aa: 2\u001b[K\nb: 2\u001b[K\n", "a: 2\nb: 2\n"],
  ["to the previous line and a column", "one\ntwo\u001b[F\u001b[3GE", "onE\ntwo"],
  ["a title and a link", "\u001b]0;title\u0007\u001b]8;;https://a.test\u001b\\text\u001b]8;;\u001b\\\n", "text\n"],
  ["a screen that is cleared is still what was printed", "first\n\u001b[2J\u001b[Hsecond", "first\n\nsecond"],
  ["tabs and other scripts", "a\tb \u{1f333} ж\n", "a\tb \u{1f333} ж\n"],
  ["characters that ring or do nothing", "a\u0007b\u0000c\u000e\n", "abc\n"],
  ["other sequences", "\u001b7\u001b(Ba\u001b8\u001b=b\u001b>\u001bMc\n", "abc\n"],
];

for (const [what, printed, seen] of CASES) {
  test(`output is what a terminal would show, whatever pieces it comes in: ${what}`, () => {
    for (const size of [printed.length, 1, 2, 3, 7]) assert.equal(shown(printed, size), seen, `in pieces of ${size}`);
  });
}

test("a bar of a thousand steps is one line, for a person and a model alike", () => {
  const output = new CommandOutput(1000);
  output.add("start\n");
  for (let step = 0; step <= 1000; step += 1) output.add(`\r\u001b[32m${"#".repeat(step / 20)}\u001b[0m ${step}`);
  assert.equal(output.tail, `start\n${"#".repeat(50)} 1000`);
  assert.equal(output.text, output.tail);
  output.add("\nend\n");
  assert.match(output.text, /1000\nend\n$/);
});

test("going back costs no more than the line that can change, however long the output is", () => {
  const long = "x".repeat(2_000_000);
  assert.match(shown(`${long}\ry`), /^x{100}/);
  assert.equal(shown("a\r".repeat(500_000)), "a");
  assert.equal(shown(`\u001b[99999999C\u001b[99999999Bx\u001b[99999999Ay`).length, 1001);
  assert.ok(shown("\u001b]".repeat(100_000)).length < 31_000);
  const lines = Array.from({ length: 60 }, (_, at) => `${at}\n`).join("");
  assert.match(shown(`${lines}\u001b[1000Atop`), /^0\n(.*\n)*10\ntop\n/);
});

test("what a model gets of a command is bounded by its window", () => {
  assert.deepEqual([undefined, 200_000, 32_000, 8_000, 1_000].map(mostOutput), [30_000, 30_000, 12_000, 3_000, 1_000]);
  const text = shown(`first\n${"line\n".repeat(10_000)}last`, 997, mostOutput(8_000));
  assert.match(text, /^first\n.*characters left out.*\nlast$/s);
  assert.ok(text.length < 3_100);
});
