/** Which tools a model is offered where rules refuse some of them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { TOOLS } from "../src/agent/agent";
import { currentSystemPrompt } from "../src/agent/editor/instructions";
import { systemPrompt } from "../src/agent/prompt";
import { answerToolCalls, offeredTools } from "../src/models/tools";
import type { Rule } from "../src/permissions/rule";
import type { InvokeToolResult } from "../src/protocol.gen";
import { Disk } from "./agent/disk";
import { lm, workspace as editor } from "./agent/vscode";

const ALL = [...TOOLS.map(({ definition }) => definition.name), "theirs"];

const RULES: [name: string, rule: Rule, missing: string[]][] = [
  ["a whole tool", { effect: "deny", tool: "run_command" }, ["run_command"]],
  ["a tool that only reads", { effect: "deny", tool: "search" }, ["search"]],
  ["all edits", { effect: "deny", tool: "edit_file" }, ["edit_file", "write_file"]],
  ["another extension's tool", { effect: "deny", tool: "theirs" }, ["theirs"]],
  ["a tool that is asked about", { effect: "ask", tool: "run_command" }, []],
  ["some commands", { effect: "deny", tool: "run_command", words: ["git", "push"] }, []],
  ["a folder", { effect: "deny", tool: "edit_file", path: "src" }, []],
  ["a folder for every tool", { effect: "deny", tool: "*", path: "" }, []],
];

for (const [name, rule, missing] of RULES) {
  test(`what a rule refuses whatever it is called with is not offered: ${name}`, async () => {
    await using disk = await Disk.with({});
    disk.rules = [rule];
    lm.tools = [{ name: "theirs" }];
    editor.settings = { "coppice.chat.tools": ["theirs"] };
    const offered = offeredTools(disk.agent, { rulesOf: () => disk.rules }, "c", "ask").map((tool) => tool.name);
    assert.deepEqual(offered, ALL.filter((each) => !missing.includes(each)));
  });
}

test("the system prompt says what the tools that are offered cannot do, and names no other", () => {
  const prompt = (...missing: string[]): string => systemPrompt("", { folders: ["/w"], platform: "linux", shell: "bash", tools: ALL.filter((each) => !missing.includes(each)), mode: "ask", instructions: [] });
  assert.doesNotMatch(prompt(), /You cannot/);
  assert.match(prompt("run_command"), /You cannot run commands here\.\n/);
  assert.match(prompt("edit_file", "write_file"), /You cannot change files here\. Show the user what to change\.\n/);
  assert.doesNotMatch(prompt("search"), /\bsearch\b/);
});

test("in a workspace that is not trusted a model gets the tools that read, and no instructions of the checkout", async () => {
  await using disk = await Disk.with({ "shop/AGENTS.md": "Answer in Latin.\n" });
  editor.settings = {};
  const given = async (isTrusted: boolean) => {
    disk.isTrusted = isTrusted;
    editor.isTrusted = isTrusted;
    const tools = offeredTools(disk.agent, { rulesOf: () => [] }, "c", "ask").map(({ name }) => name);
    return { tools, prompt: await currentSystemPrompt(disk.folders, tools, "ask") };
  };
  const restricted = await given(false);
  assert.deepEqual(restricted.tools, ["read_file", "list_files", "search"]);
  assert.match(restricted.prompt, /You cannot change files or run commands here\./);
  assert.doesNotMatch(restricted.prompt, /Latin/);
  const trusted = await given(true);
  assert.match(trusted.prompt, /Latin/);
  assert.deepEqual(trusted.tools, TOOLS.map(({ definition }) => definition.name));
});

test("the files are recorded after each call that may have changed them, also of another extension's tool and one that failed", async () => {
  await using disk = await Disk.with({ "shop/a.py": "x\n" });
  let recorded = 0;
  disk.recordState = () => Promise.resolve(`state ${recorded += 1}`);
  lm.tools = [{ name: "theirs" }];
  editor.settings = { "coppice.chat.tools": ["theirs"] };
  let invoke = (_params: object, _token: object): Promise<InvokeToolResult> => assert.fail();
  answerToolCalls({ onRequest: (_method: string, handler: typeof invoke) => { invoke = handler; } } as never, disk.agent, disk, disk.modes, disk);
  const call = async (name: string, given = {}): Promise<string | null | undefined> => (await invoke({ conversationId: "c", toolCallId: "1", name, arguments: given }, { isCancellationRequested: false, onCancellationRequested: () => undefined })).workspaceState;
  assert.equal(await call("theirs"), "state 1");
  lm.invokeTool = () => Promise.reject(new Error("failed"));
  assert.equal(await call("theirs"), "state 2");
  disk.run = () => Promise.reject(new Error("The terminal is gone."));
  assert.equal(await call("run_command", { command: "make" }), "state 3");
  assert.equal(await call("read_file", { path: "a.py" }), undefined);
  disk.answer = () => ({ allowed: false, reason: "no" });
  assert.deepEqual([await call("run_command", { command: "make all" }), await call("theirs"), recorded], [undefined, undefined, 3]);
});
