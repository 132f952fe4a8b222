import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { NoServerError } from "../src/errors";
import { findOnPath, isOutside } from "../src/programs";
import { findServer } from "../src/server/find";
import { candidates } from "../src/server/python";

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "coppice-")));
});
afterEach(() => rm(root, { recursive: true }));

async function program(folder: string, mode = 0o755, name = "coppice"): Promise<string> {
  const file = join(root, folder, name);
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
  assert.equal(await findOnPath("coppice", path, []), wanted);
});

test("a relative folder of the PATH is passed over", async () => {
  const file = await program("checkout");
  const path = relative(process.cwd(), join(file, ".."));
  assert.equal(await findOnPath("coppice", path, []), undefined);
});

test("a folder with the program's name is no program", async () => {
  await mkdir(join(root, "bin", "coppice"), { recursive: true });
  assert.equal(await findOnPath("coppice", join(root, "bin"), []), undefined);
});

test("without a PATH nothing is found", async () => {
  assert.equal(await findOnPath("coppice", undefined, []), undefined);
});

/** Folders of a PATH that lead into the workspace `shop`, each in another way. */
async function intoWorkspace(name: string): Promise<{ path: string; folders: string[] }> {
  const inside = await program("shop/bin", 0o755, name);
  await mkdir(join(root, "linked"));
  await mkdir(join(root, "tools"));
  await symlink(inside, join(root, "linked", name));
  await symlink("../shop", join(root, "tools", "shop"));
  await symlink("shop", join(root, "work"));
  const places = [join(root, "shop/bin"), join(root, "linked"), join(root, "tools/shop/bin"), join(root, "work/bin"), join(root, "other/../shop/bin"), "bin", ".", ""];
  return { path: places.join(delimiter), folders: [join(root, "work")] };
}

test("no program of a PATH that leads into the workspace is the server, Git, ripgrep or Python", async () => {
  for (const name of ["coppice", "git", "rg", "python3"]) {
    const { path, folders } = await intoWorkspace(name);
    assert.equal(await findOnPath(name, path, folders), undefined);
    const outside = await program(`${name}-bin`, 0o755, name);
    const further = [path, join(outside, "..")].join(delimiter);
    assert.equal(await findOnPath(name, further, folders), outside);
    if (name === "coppice") {
      await assert.rejects(findServer({ setting: "", path, folders }), NoServerError);
      assert.deepEqual(await findServer({ setting: "", path: further, folders }), { command: outside, from: "path" });
    }
    if (name === "python3") assert.deepEqual(await candidates(further, [join(root, "linked/python3"), "python3"], folders), [outside]);
    for (const folder of ["shop", "linked", "tools", "work"]) await rm(join(root, folder), { recursive: true });
  }
});

test("a link in the workspace that leads out of it is a program of the checkout, and a folder with a like name is none", async () => {
  const outside = await program("shopping");
  await mkdir(join(root, "shop"));
  await symlink(outside, join(root, "shop", "coppice"));
  const folders = [join(root, "shop")];
  assert.deepEqual(await Promise.all([join(root, "shop/coppice"), outside, join(root, "shop/gone"), "coppice"].map((file) => isOutside(file, folders))), [false, true, false, false]);
});
