/** Every program that the extension starts: by its whole path, and without a window of its own on Windows. */
import assert from "node:assert/strict";
import childProcess, { type SpawnOptions } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { mock, test } from "node:test";

import { RunningCommand } from "../src/agent/process";
import { ripgrep } from "../src/agent/tools/ripgrep";
import { run } from "../src/server/processes";
import { HiddenGit } from "../src/snapshots/git";

/** The modules that start programs, and what each starts. One that is not in the list has no test here. */
const STARTING: Record<string, (folder: string) => Promise<unknown>> = {
  "agent/process.ts": (folder) => new RunningCommand({ command: "exit 0", cwd: folder, timeoutMs: 60_000, limit: 1000 }, () => undefined).exited,
  "agent/tools/ripgrep.ts": (folder) => ripgrep({ program: process.execPath, options: [], folder, most: 1, stop: new AbortController().signal }).catch(() => undefined),
  "server/processes.ts": () => run(process.execPath, ["--version"]),
  "snapshots/git.ts": (folder) => new HiddenGit(folder, folder, 60_000, () => []).run(["version"]),
};

test("only these modules start programs", async () => {
  const names = (await readdir("src", { recursive: true })).filter((name) => name.endsWith(".ts"));
  const starting: string[] = [];
  for (const name of names) if (/["'](?:node:)?child_process["']/.test(await readFile(join("src", name), "utf8"))) starting.push(name.replaceAll("\\", "/"));
  assert.deepEqual(starting.sort(), Object.keys(STARTING).sort());
});

for (const [name, start] of Object.entries(STARTING)) {
  test(`what ${name} starts has a whole path and no window`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "coppice-"));
    const spawn = mock.method(childProcess, "spawn");
    try {
      await start(folder);
    } finally {
      spawn.mock.restore();
      await rm(folder, { recursive: true });
    }
    const calls = spawn.mock.calls.map(({ arguments: [program, , options] }) => ({ isWhole: isAbsolute(program), windowsHide: (options as SpawnOptions | undefined)?.windowsHide }));
    assert.ok(calls.length > 0);
    for (const call of calls) assert.deepEqual(call, { isWhole: true, windowsHide: true });
  });
}
