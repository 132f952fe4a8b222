/** The one way in which two texts become a patch, to be shown or to be taken back. */
import { structuredPatch, type StructuredPatch, type StructuredPatchHunk } from "diff";

/** Unchanged lines around a change; Git's own default. */
const CONTEXT_LINES = 3;
/**
 * Removed and added lines up to which the shortest change is looked for, which takes time with their square: measured
 * 0.3 s of a processor for 2,000 and 15 s for 20,000. The editor's other extensions wait meanwhile.
 */
export const MOST_EDITS = 2000;
/**
 * Characters of both texts times edits, up to which it is looked for: where lines are much alike each edit reads them anew.
 * Measured 1.7 s of a processor at most; no clock, by which a busy machine would show another change.
 */
const MOST_READ = 20_000_000_000;

/** The change from one text to the other. Texts that differ too much are replaced from their first to their last difference. */
export function patchBetween(path: string, before: string, after: string): StructuredPatch {
  const maxEditLength = Math.min(MOST_EDITS, Math.floor(MOST_READ / (before.length + after.length)));
  const options = { context: CONTEXT_LINES, maxEditLength };
  const patch = structuredPatch(path, path, before, after, undefined, undefined, options);
  return patch ?? { oldFileName: path, newFileName: path, oldHeader: undefined, newHeader: undefined, hunks: [replacement(linesOf(before), linesOf(after))] };
}

/** Each with its end, which the last may lack. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function replacement(before: readonly string[], after: readonly string[]): StructuredPatchHunk {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const first = Math.max(0, head - CONTEXT_LINES);
  const rest = Math.max(0, tail - CONTEXT_LINES);
  const lines = [
    ...before.slice(first, head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...after.slice(after.length - tail, after.length - rest).map((line) => ` ${line}`),
  ];
  return {
    oldStart: first + 1,
    oldLines: before.length - rest - first,
    newStart: first + 1,
    newLines: after.length - rest - first,
    lines: lines.flatMap((line) => (line.endsWith("\n") ? [line.slice(0, -1)] : [line, "\\ No newline at end of file"])),
  };
}
