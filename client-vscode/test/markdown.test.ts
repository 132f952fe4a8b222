import assert from "node:assert/strict";
import { test } from "node:test";

import { type Node, parse, settled } from "../webview/markdown/parse";

function types(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ token, children }) => [token.type, ...types(children)]);
}

const SAMPLE = "# Title\n\nSome *text*\nand more.\n\n- [x] one\n- [ ] two\n\n```js\nconst a = 1;\n\nconst b;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nThe end.";

test("a text that is read in settled pieces reads as the whole", () => {
  let [rest, pieces] = [SAMPLE, [] as string[]];
  for (let length = settled(rest); length > 0; length = settled(rest)) {
    // Everything but the last block at once, and that is all there is to settle.
    pieces = [...pieces, rest.slice(0, length)];
    rest = rest.slice(length);
  }
  assert.equal([...pieces, rest].join(""), SAMPLE);
  assert.deepEqual([...pieces, rest].flatMap((piece) => types(parse(piece))), types(parse(SAMPLE)));
});

test("what has settled stays settled however the text goes on", () => {
  let before = 0;
  for (let length = 1; length <= SAMPLE.length; length += 1) {
    const now = settled(SAMPLE.slice(0, length));
    assert.ok(now <= length);
    const [piece, rest] = [SAMPLE.slice(0, now), SAMPLE.slice(now)];
    assert.deepEqual([...types(parse(piece)), ...types(parse(rest))], types(parse(SAMPLE)), `after ${length} characters`);
    before = Math.max(before, now);
  }
  assert.ok(before > 0);
});

test("HTML is text", () => {
  assert.deepEqual(types(parse("<img src=x onerror=alert(1)>\n\na <b>c</b>")).filter((type) => type.startsWith("html")), []);
});

test("tasks of a list know whether they are done", () => {
  const [list] = parse("- [x] one\n- [ ] two\n- three [x]\n");
  assert.deepEqual(list?.children.map(({ done }) => done), [true, false, undefined]);
});

test("deep nesting ends somewhere", () => {
  assert.ok(types(parse(">".repeat(5000) + " deep")).length < 200);
  assert.ok(types(parse("- ".repeat(3000) + "deep")).length < 500);
});
