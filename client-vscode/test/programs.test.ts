import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { shellOutside } from "../src/agent/shell";
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

test("a program of the repository around the workspace folder is one of the checkout, and one next to it is none", async () => {
  const inside = await program("repo/node_modules/.bin");
  const outside = await program("repo-tools/bin");
  await mkdir(join(root, "repo"), { recursive: true });
  execFileSync("git", ["init", "-q", join(root, "repo")]);
  await mkdir(join(root, "repo/packages/x"), { recursive: true });
  await symlink("repo/packages/x", join(root, "x"));
  const path = [inside, outside].map((file) => join(file, "..")).join(delimiter);
  for (const folder of ["repo/packages/x", "x"]) assert.equal(await findOnPath("coppice", path, [join(root, folder)]), outside);
});

test("programs of a home that is a repository are the user's own", async () => {
  const own = await program("home/bin");
  execFileSync("git", ["init", "-q", join(root, "home")]);
  await mkdir(join(root, "home/shop"));
  const home = process.env["HOME"];
  process.env["HOME"] = join(root, "home");
  try {
    assert.equal(await isOutside(own, [join(root, "home/shop")]), true);
    assert.equal(await isOutside(join(root, "home/shop/x"), [join(root, "home/shop")]), false);
  } finally {
    if (home === undefined) delete process.env["HOME"];
    else process.env["HOME"] = home;
  }
});

test("a shell that a checkout holds is none, however the settings of the folder name it", async () => {
  const inside = await program("shop/tools", 0o755, "bash");
  const outside = await program("bin", 0o755, "bash");
  await symlink(inside, join(root, "bin/zsh"));
  const shells = await Promise.all([inside, outside, join(root, "bin/zsh"), "bash", ""].map((shell) => shellOutside(shell, [join(root, "shop")])));
  assert.deepEqual(shells, [undefined, outside, undefined, undefined, undefined]);
});
