import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { findOnPath } from "../src/server/paths";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "coppice-"));
});
afterEach(() => rm(root, { recursive: true }));

async function program(folder: string, mode = 0o755): Promise<string> {
  const file = join(root, folder, "coppice");
  await mkdir(join(root, folder), { recursive: true });
  await writeFile(file, "");
  await chmod(file, mode);
  return file;
}

test("the first folder that has an executable wins", async () => {
  await program("readable", 0o644);
  const wanted = await program("first");
  await program("second");
  const path = ["missing", "readable", "first", "second"].map((name) => join(root, name)).join(delimiter);
  assert.equal(await findOnPath("coppice", path, "linux"), wanted);
});

test("a relative folder of the PATH is passed over", async () => {
  const file = await program("checkout");
  const path = relative(process.cwd(), join(file, ".."));
  assert.equal(await findOnPath("coppice", path, "linux"), undefined);
});

test("a folder with the program's name is no program", async () => {
  await mkdir(join(root, "bin", "coppice"), { recursive: true });
  assert.equal(await findOnPath("coppice", join(root, "bin"), "linux"), undefined);
});

test("without a PATH nothing is found", async () => {
  assert.equal(await findOnPath("coppice", undefined, "linux"), undefined);
});
