/** Which files Git excludes, by the table that the server's rules are tested with too. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { isIgnored } from "../../src/ignoring/files";
import { withoutGitSettings } from "../git-settings";

interface Case {
  name: string;
  repositories: string[];
  files: Record<string, string>;
  links?: Record<string, string>;
  excluded: string[];
  shown: string[];
}

const CASES = JSON.parse(readFileSync("../tests/files/git_excludes.json", "utf8")) as Case[];

async function written(root: string, each: Case): Promise<void> {
  for (const folder of ["shop", "home"]) await mkdir(join(root, folder));
  const heads = each.repositories.map((repository): [string, string] => [join(repository, ".git", "HEAD"), "ref: refs/heads/main\n"]);
  for (const repository of each.repositories) for (const folder of ["objects", "refs"]) await mkdir(join(root, repository, ".git", folder), { recursive: true });
  const files = Object.entries(each.files).map(([name, text]): [string, string] => [name, text.replace("LONGEST", "x".repeat(70_000)).replace("LONG", "x".repeat(400))]);
  for (const [name, text] of [...heads, ...files]) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  for (const [name, target] of Object.entries(each.links ?? {})) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await symlink(target, join(root, name));
  }
}

for (const each of CASES) {
  test(`excluded is what Git excludes, or may exclude: ${each.name}`, async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-")));
    try {
      await written(root, each);
      withoutGitSettings(join(root, "home"));
      const excluded: string[] = [];
      for (const name of [...each.excluded, ...each.shown]) if (await isIgnored(join(root, "shop"), name)) excluded.push(name);
      assert.deepEqual(excluded, each.excluded);
    } finally {
      await rm(root, { recursive: true });
    }
  });
}
