import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import { commandEnvironment, commandHead } from "../../src/agent/process";
import { Disk } from "./disk";

test("a command gives its output and its exit code", async () => {
  await using disk = await Disk.with({ "shop/src/x": "" });
  const good = await disk.call("run_command", { command: "pwd; ls", folder: "src" });
  assert.deepEqual([good.isError, good.text], [false, `${disk.root}/shop/src\nx\n[Exit code 0]`]);
  const bad = await disk.call("run_command", { command: "echo no >&2; exit 3" });
  assert.deepEqual([bad.isError, bad.text, bad.details], [true, "no\n[Exit code 3]", { exitCode: 3, ending: "exited" }]);
});

test("a command longer than any that Linux runs is refused before anybody is asked", async () => {
  await using disk = await Disk.with({});
  if (process.platform === "linux") {
    const longest = await disk.call("run_command", { command: `: ${"x".repeat(131_069)}` });
    assert.deepEqual([longest.isError, longest.details], [false, { exitCode: 0, ending: "exited" }]);
    disk.asked.length = 0;
  }
  const { isError, text } = await disk.call("run_command", { command: `: ${"x".repeat(131_070)}` });
  assert.ok(isError);
  assert.match(text, /Invalid length/);
  assert.deepEqual(disk.asked, []);
});

test("a command that never ends is ended, with everything that it started", async ({ mock }) => {
  await using disk = await Disk.with({});
  const pipe = join(disk.root, "shop/pipe");
  execFileSync("mkfifo", [pipe]);
  const ticks = createReadStream(pipe);
  // The limit of time passes once the command is at work, and not before.
  mock.timers.enable({ apis: ["setTimeout"] });
  const called = disk.call("run_command", { command: "trap '' TERM; exec >pipe; (while :; do echo tick; sleep 0.1; done) & wait; sleep 600", timeoutSeconds: 1 });
  await once(ticks, "data");
  const ended = once(ticks.resume(), "end"); // When no process has the pipe open any more.
  mock.timers.tick(1000); // asks it to end, which it ignores
  mock.timers.tick(2000); // ends it
  assert.match((await called).text, /Ended after 1 seconds/);
  await ended;
});

test("a turn that is stopped ends its command", async () => {
  await using disk = await Disk.with({});
  const stop = new AbortController();
  const called = disk.call("run_command", { command: "sleep 600" }, stop.signal);
  while (disk.commands.all().length === 0) await sleep(10);
  stop.abort();
  assert.ok((await called).isError);
});

test("of 10 MB of output the model gets the beginning and the end", async () => {
  await using disk = await Disk.with({});
  const result = await disk.call("run_command", { command: "echo first; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo last" });
  assert.match(result.text, /^first\nx+/);
  assert.match(result.text, /characters left out/);
  assert.match(result.text, /x\nlast\n\[Exit code 0\]$/);
  assert.ok(result.text.length < 31_000);
});

test("a server that is started in the background does not hold the turn", async () => {
  await using disk = await Disk.with({});
  const { text } = await disk.call("run_command", { command: "sleep 600 & echo $!" });
  assert.match(text, /^\d+\n\[Exit code 0\]$/);
  process.kill(Number.parseInt(text, 10)); // It is still there.
});

test("bytes that are no text do not break the output", async () => {
  await using disk = await Disk.with({});
  assert.match((await disk.call("run_command", { command: "printf '\\377\\376 ok'" })).text, /ok/);
});

test("a command gets nothing of the editor's own environment", () => {
  const given = commandEnvironment({ PATH: "/bin", VSCODE_IPC_HOOK: "x", ELECTRON_RUN_AS_NODE: "1" });
  assert.equal(given["PATH"], "/bin");
  assert.ok(!("VSCODE_IPC_HOOK" in given) && !("ELECTRON_RUN_AS_NODE" in given));
});

test("the terminal prints no control sequence of a model's command", () => {
  const head = commandHead("/w/\u001b[2K", "ls \u001b[2K\u001b]0;title\u0007\r# harmless");
  assert.equal(head, "\u001b[1m/w/<U+001B>[2K$ ls <U+001B>[2K<U+001B>]0;title<U+0007><U+000D># harmless\u001b[0m\n");
});

test("Git settings of the user's environment stay in force for commands", () => {
  const given = commandEnvironment({ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Ada" });
  assert.deepEqual([given["GIT_CONFIG_COUNT"], given["GIT_CONFIG_KEY_0"], given["GIT_CONFIG_KEY_1"], given["GIT_CONFIG_VALUE_1"]], ["2", "user.name", "core.fsmonitor", "false"]);
});

test("a command that is left running goes on without its turn, is listed, and ends when it is ended", async ({ mock }) => {
  await using disk = await Disk.with({});
  const stop = new AbortController();
  const command = "echo ready; until [ -e ask ]; do sleep 0.1; done; echo here; sleep 600";
  const prints = async (line: string): Promise<void> => {
    while (!(disk.commands.all()[0]?.tail ?? assert.fail("It has ended.")).includes(line)) await new Promise(setImmediate);
  };
  // Its limit of time passes once it was left, and not before.
  mock.timers.enable({ apis: ["setTimeout"] });
  const called = disk.call("run_command", { command, timeoutSeconds: 1 }, stop.signal);
  while (disk.commands.all().length === 0) await new Promise(setImmediate);
  await prints("ready");
  const [listed] = disk.commands.all();
  assert.deepEqual([listed?.toolCallId, listed?.command, listed?.isLeft], ["t", command, false]);
  disk.commands.leave(listed?.id ?? "");
  const result = await called;
  assert.match(result.text, /^ready\n\[The user leaves the command running/);
  assert.deepEqual([result.isError, result.details], [false, { exitCode: null, ending: "left" }]);
  mock.timers.tick(10_000);
  stop.abort();
  await writeFile(join(disk.root, "shop/ask"), "");
  await prints("here");
  assert.deepEqual(disk.commands.all().map(({ isLeft }) => isLeft), [true]);
  mock.timers.reset();
  disk.commands.end(listed?.id ?? "");
  while (disk.commands.all().length > 0) await sleep(10);
});

test("an interruption ends what a turn waits for, and what was left running only where nothing waits", async () => {
  await using disk = await Disk.with({});
  const left = disk.call("run_command", { command: "sleep 600" });
  while (disk.commands.all().length === 0) await sleep(10);
  disk.commands.leave(disk.commands.all()[0]?.id ?? "");
  await left;
  const awaited = disk.call("run_command", { command: "sleep 601" });
  while (disk.commands.all().length < 2) await sleep(10);
  disk.commands.interrupt();
  assert.match((await awaited).text, /Stopped by the user/);
  assert.deepEqual(disk.commands.all().map(({ command }) => command), ["sleep 600"]);
  disk.commands.interrupt();
  while (disk.commands.all().length > 0) await sleep(10);
});
