/** How a command and what it started are ended on Windows: by a program of Windows, for which a script stands here. */
import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { mock, test } from "node:test";

import { RunningCommand } from "../../src/agent/process";

const PLATFORM = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
const TASKKILL = "C:\\Windows\\System32\\taskkill.exe";

test("a command is ended with its tree by taskkill, and neither opens a window", { skip: process.platform === "win32" }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "coppice-taskkill-"));
  const { PATH, SystemRoot } = process.env;
  const spawn = mock.method(childProcess, "spawn");
  try {
    // A name without a slash is looked for on the PATH.
    await writeFile(join(folder, TASKKILL), `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/given'\nkill -9 "$2"\n`);
    await chmod(join(folder, TASKKILL), 0o755);
    Object.assign(process.env, { PATH: `${folder}${delimiter}${PATH ?? ""}`, SystemRoot: "C:\\Windows" });
    Object.defineProperty(process, "platform", { ...PLATFORM, value: "win32" });
    const program = { file: "/bin/sleep", args: ["20"], environment: {}, input: undefined };
    const command = new RunningCommand({ command: "sleep 20", program, cwd: folder, timeoutMs: 600_000, limit: 100 }, () => undefined);
    const pid = spawn.mock.calls[0]?.result?.pid;
    command.stop();
    assert.deepEqual(await command.exited, { output: "", exitCode: undefined, ending: "stopped" });
    assert.deepEqual((await readFile(join(folder, "given"), "utf8")).split("\n"), ["/pid", String(pid), "/T", "/F", ""]);
    assert.deepEqual(spawn.mock.calls.map(({ arguments: [file, , options] }) => [file, options.windowsHide, options.detached ?? false]), [["/bin/sleep", true, false], [TASKKILL, true, false]]);
  } finally {
    Object.defineProperty(process, "platform", PLATFORM);
    spawn.mock.restore();
    Object.assign(process.env, { PATH });
    if (SystemRoot === undefined) delete process.env["SystemRoot"];
    else process.env["SystemRoot"] = SystemRoot;
    await rm(folder, { recursive: true, force: true });
  }
});
