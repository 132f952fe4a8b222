/** Files that are parsed once in each of their states. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { ParsedFiles } from "../../src/ignoring/parsed-files";

test("the longest unused are forgotten, empty ones too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "coppice-"));
  try {
    const paths = Array.from({ length: 10 }, (_, at) => join(folder, `${at}`));
    for (const path of paths) await writeFile(path, "");
    const parsed: string[] = [];
    const files = new ParsedFiles((text) => { parsed.push(text); return { length: text.length }; }, 10, 5 * join(folder, "0").length);
    for (const path of [...paths, ...paths.slice(-5)]) assert.deepEqual(await files.of(path), { length: 0 });
    assert.equal(parsed.length, 10);
    await files.of(paths[0] ?? "");
    await writeFile(paths[9] ?? "", "new");
    assert.deepEqual(await files.of(paths[9] ?? ""), { length: 3 });
    assert.equal(parsed.length, 12);
  } finally {
    await rm(folder, { recursive: true });
  }
});
