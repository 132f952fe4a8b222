import assert from "node:assert/strict";
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

test("a command that never ends is ended, with everything that it started", async () => {
  await using disk = await Disk.with({});
  const result = await disk.call("run_command", { command: "trap '' TERM; (while :; do echo tick >> ticks; sleep 0.1; done) & wait; sleep 600", timeoutSeconds: 1 });
  assert.match(result.text, /Ended after 1 seconds/);
  await sleep(300);
  const ticks = await disk.file("shop/ticks");
  await sleep(500);
  assert.equal(await disk.file("shop/ticks"), ticks);
});

test("a turn that is stopped ends its command", async () => {
  await using disk = await Disk.with({});
  const stop = new AbortController();
  setTimeout(() => { stop.abort(); }, 300);
  const started = Date.now();
  const result = await disk.call("run_command", { command: "sleep 600" }, stop.signal);
  assert.ok(result.isError);
  assert.ok(Date.now() - started < 10_000);
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
  const started = Date.now();
  const result = await disk.call("run_command", { command: "sleep 20 & echo started" });
  assert.match(result.text, /^started\n\[Exit code 0\]$/);
  assert.ok(Date.now() - started < 10_000);
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

test("a command that is left running goes on without its turn, is listed, and ends when it is ended", async () => {
  await using disk = await Disk.with({});
  const stop = new AbortController();
  const called = disk.call("run_command", { command: "echo ready; sleep 600", timeoutSeconds: 1 }, stop.signal);
  while (!(disk.commands.all()[0]?.tail ?? "").includes("ready")) await sleep(10);
  const [listed] = disk.commands.all();
  assert.deepEqual([listed?.toolCallId, listed?.command, listed?.isLeft], ["t", "echo ready; sleep 600", false]);
  disk.commands.leave(listed?.id ?? "");
  const result = await called;
  assert.match(result.text, /^ready\n\[The user leaves the command running/);
  assert.deepEqual([result.isError, result.details], [false, { exitCode: null, ending: "left" }]);
  await sleep(1200); // longer than its limit of time
  stop.abort();
  assert.deepEqual(disk.commands.all().map(({ isLeft }) => isLeft), [true]);
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
