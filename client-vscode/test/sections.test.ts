import assert from "node:assert/strict";
import { test } from "node:test";

import { type Node, parse, withReferences } from "../webview/markdown/parse";
import { sections } from "../webview/state/sections";

test("a summary is split at its headings, not at those in code", () => {
  const text = "Before.\n\n## Goal\nKeep it.\n\n```md\n## no heading\n```\n\n## Progress\n### Done\n- [x] one";
  assert.deepEqual(sections(text), [
    { title: "", text: "Before." },
    { title: "Goal", text: "Keep it.\n\n```md\n## no heading\n```" },
    { title: "Progress", text: "### Done\n- [x] one" },
  ]);
  assert.deepEqual(sections("plain"), [{ title: "", text: "plain" }]);
});

test("references become nodes, in lists and emphasis as well, but not in code", () => {
  const flat = (nodes: readonly Node[]): string[] => nodes.flatMap((node) => [
    ...(node.reference === undefined ? [] : [`#${node.reference}`]), ...(node.piece === undefined ? [] : [node.piece]), ...flat(node.children),
  ]);
  assert.deepEqual(flat(withReferences(parse("- done [#26c4206e]\n- **why** [#a][#b] so\n- `x [#c]`"))), [
    "done ", "#26c4206e", "why", " ", "#a", "#b", " so",
  ]);
});
