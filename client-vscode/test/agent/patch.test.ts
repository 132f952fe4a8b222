/** Patches of texts that differ little, and so much that the shortest change is not looked for. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { fileChangeOf, takenBack } from "../../src/agent/change";
import { MOST_EDITS, patchBetween } from "../../src/agent/patch";
import { diffDetail } from "../../src/approvals/diff";

/** Lines of which every second one is another in `after`: each is an edit of two lines. */
function texts(edits: number, end = "\n", last = end): { before: string; after: string } {
  const lines = Array.from({ length: edits }, (_, at) => (at % 2 === 0 ? `same ${at}` : `old ${at}`));
  const text = (all: string[]): string => `${["head 1", "head 2", "head 3", "head 4", ...all, "tail 1", "tail 2", "tail 3", "tail 4"].join(end)}${last}`;
  return { before: text(lines), after: text(lines.map((line) => line.replace("old", "new"))) };
}

test("texts with few edits have a hunk for each place, and those with more than the bound one hunk from the first to the last", () => {
  const few = texts(MOST_EDITS);
  const unchanged = (hunks: { lines: string[] }[]): number => hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(" same")).length;
  assert.ok(unchanged(patchBetween("a", few.before, few.after).hunks) >= MOST_EDITS / 2 - 1);
  const many = texts(MOST_EDITS + 10);
  const [hunk, ...others] = patchBetween("a", many.before, many.after).hunks;
  assert.deepEqual([others, unchanged([hunk ?? { lines: [] }]), hunk?.oldStart, hunk?.newStart, hunk?.oldLines, hunk?.newLines], [[], 1, 3, 3, MOST_EDITS + 15, MOST_EDITS + 15]);
  assert.deepEqual([hunk?.lines.slice(0, 4), hunk?.lines.slice(-4)], [[" head 3", " head 4", " same 0", "-old 1"], [`+new ${MOST_EDITS + 9}`, " tail 1", " tail 2", " tail 3"]]);
});

test("of large texts the shortest change is looked for up to fewer edits, and how fast the machine is does not count", () => {
  const { before, after } = texts(MOST_EDITS);
  let minutes = 0;
  const clock = mock.method(Date, "now", () => (minutes += 1) * 60_000);
  const unchangedBelow = (characters: number): number => {
    const head = `${"x".repeat(characters)}\n`;
    return patchBetween("a", head + before, head + after).hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(" same")).length;
  };
  assert.deepEqual([0, 2_000_000, 6_000_000].map(unchangedBelow), [MOST_EDITS / 2, MOST_EDITS / 2, 1]);
  clock.mock.restore();
});

for (const [name, before, after] of [
  ["lines of Windows", texts(3000, "\r\n").before, texts(3000, "\r\n").after],
  ["no end of the last line", texts(3000, "\n", "").before, texts(3000, "\n", "").after],
  ["an end of the last line that only one has", texts(3000, "\n", "").before, texts(3000).after],
  ["no common line", "a\n".repeat(3000), "b\n".repeat(4000)],
  ["nothing before", "", "a\n".repeat(3000)],
  ["nothing after", "a\n".repeat(3000), ""],
  ["empty lines", "\n".repeat(3000), "\n".repeat(6000)],
  ["few edits", texts(10).before, texts(10).after],
] as const) {
  test(`a patch is shown as it is stored, and taken back exactly: ${name}`, () => {
    const change = fileChangeOf("a", before, after);
    assert.equal(takenBack(change, after)?.content, before);
    const shown = diffDetail("a", before, after).hunks.flatMap(({ lines }) => lines);
    assert.deepEqual(change.patch.split("\n").filter((line) => /^[-+ \\](?!--|\+\+)/.test(line)), shown);
  });
}

test("lines that were added since above a replaced text stay when it is taken back", () => {
  const { before, after } = texts(3000);
  assert.equal(takenBack(fileChangeOf("a", before, after), `new head\n${after}`)?.content, `new head\n${before}`);
});
