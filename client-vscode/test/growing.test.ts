/** A reply that grows is parsed in time linear in its length. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Growing, grown, NOTHING } from "../webview/markdown/growing";
import { parse, settled, sizeOf } from "../webview/markdown/parse";

const LINES = {
  "a list": "- one item of a list\n",
  "a block of code": "    x = call(1, 2)\n",
  "a paragraph": "some words of a paragraph, and ",
  "paragraphs": "A paragraph.\n\n",
};

/** The characters that are parsed until the text has a length, and its parts then. */
function parsedUntil(length: number, line: string, settledIn: typeof settled): { parsed: number; parts: Growing } {
  let parsed = 0;
  let parts = NOTHING;
  let text = "";
  while (text.length < length) {
    text += line;
    const next = grown(parts, text, (end) => { parsed += end.length; return settledIn(end); });
    if (next.rest !== parts.rest && next.rest.length > 4000) parsed += next.rest.length;
    parts = next;
    assert.equal([...parts.pieces, parts.rest, parts.tail].join("").length, text.length);
  }
  assert.equal([...parts.pieces, parts.rest, parts.tail].join(""), text);
  return { parsed, parts };
}

for (const [name, line] of Object.entries(LINES)) {
  test(`a growing text of ${name} loses nothing, and what is parsed in the end is what settles`, () => {
    const { parts } = parsedUntil(12_000, line, settled);
    assert.ok(parts.pieces.every((piece) => piece !== ""));
    assert.equal(parts.pieces.length > 0, name === "paragraphs");
  });
}

test("of one block that grows, what is parsed is in proportion to its length", () => {
  const [short, long] = [20_000, 320_000].map((length) => parsedUntil(length, "- item\n", () => 0).parsed);
  assert.ok((long ?? Infinity) < 24 * (short ?? 0), `${short}, ${long}`);
});

test("a growing text is not parsed any further than a page can show, and loses nothing", () => {
  const { parts } = parsedUntil(120_000, "A paragraph.\n\n", settled);
  const size = sizeOf(parse([...parts.pieces, parts.rest].join("")));
  assert.ok(size > 10_000 && size < 13_000, String(size));
  assert.ok(parts.tail.length > 60_000);
});
