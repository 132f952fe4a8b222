/** The list of the permissions, in which a person adds, changes and removes rules of each kind. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import type { Commands } from "../src/commands/registry";
import { registerPermissionCommands } from "../src/permissions/commands";
import { Rules } from "../src/permissions/rules";
import { lm, Uri, window, workspace } from "./agent/vscode";

function memory() {
  return { value: [] as unknown, read() { return this.value; }, write(rules: unknown) { this.value = structuredClone(rules); } };
}

/** Opens the list over `rules`, and gives what `choices` make of them. */
async function chosen(rules: Rules, choices: readonly string[], conversationId?: string): Promise<unknown[]> {
  let open = async (): Promise<unknown> => Promise.resolve();
  const commands = { add: (_id: string, run: () => Promise<unknown>) => { open = run; } } as unknown as Commands;
  registerPermissionCommands(commands, rules, () => conversationId);
  window.choices = [...choices];
  window.shown = [];
  await open();
  return rules.all();
}

const empty = (): Rules => new Rules({ workspace: memory(), always: memory() });

test("rules for commands, tools and paths are written by hand, each where it is to hold", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-permissions-")));
  const folder = join(root, "shop");
  try {
    await mkdir(folder);
    await symlink(folder, join(root, "link"));
    workspace.workspaceFolders = [{ uri: Uri.file(join(root, "link")) }];
    lm.tools = [{ name: "fetch" }];
    const place = { folder, path: "src/keys" };
    const cases = [
      [["Commands", "git push", "Deny", "Always"], { rule: { tool: "run_command", words: ["git", "push"], effect: "deny" }, reach: "always" }],
      [["A Tool", "read_file", "Ask", "In This Workspace"], { rule: { tool: "read_file", effect: "ask" }, reach: "workspace" }],
      [["A Tool", "fetch", "Allow", "In This Conversation"], { rule: { tool: "fetch", effect: "allow" }, reach: "conversation", conversationId: "c" }],
      [["A File", "src/../src/keys/", "Deny", "In This Workspace"], { rule: { tool: "*", path: "src/keys", place, effect: "deny" }, reach: "workspace" }],
      [["A File", join(folder, "src/keys"), "Ask", "Always"], { rule: { tool: "*", path: "src/keys", effect: "ask" }, reach: "always" }],
      [["A File", "src/keys", "Allow", "In This Conversation"], { rule: { tool: "*", path: "src/keys", place, effect: "allow" }, reach: "conversation", conversationId: "c" }],
    ] as const;
    for (const [choices, placed] of cases) assert.deepEqual(await chosen(empty(), ["Add a Rule", ...choices], "c"), [placed], choices.join());
    for (const path of ["..", "/etc/passwd", " ", "a\0b"]) assert.deepEqual(await chosen(empty(), ["Add a Rule", "A File", path, "Deny", "Always"]), [], JSON.stringify(path));

    await chosen(empty(), ["Add a Rule", "A File", "src", "Allow"]);
    assert.deepEqual(window.shown.at(-2), ["In This Workspace"], "a path is allowed in its own workspace, and here there is no conversation");
    await chosen(empty(), ["Add a Rule", "A Tool", "search"]);
    assert.deepEqual(window.shown.at(-2), ["Deny", "Ask each time"], "reading is allowed without a rule");
  } finally {
    workspace.workspaceFolders = [];
    lm.tools = [];
    await rm(root, { recursive: true });
  }
});

test("a rule about one of several folders cannot become one about every folder", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-permissions-")));
  try {
    for (const names of [["shop", "other"], ["shop"]]) {
      for (const name of names) await mkdir(join(root, name), { recursive: true });
      workspace.workspaceFolders = names.map((name) => ({ uri: Uri.file(join(root, name)) }));
      const isOne = names.length > 1;
      const always = await chosen(empty(), ["Add a Rule", "A File", isOne ? "shop" : ".", "Deny", "Always"]);
      assert.deepEqual(always, isOne ? [] : [{ rule: { tool: "*", path: "", effect: "deny" }, reach: "always" }]);
    }
    workspace.workspaceFolders = ["shop", "other"].map((name) => ({ uri: Uri.file(join(root, name)) }));
    const [here] = await chosen(empty(), ["Add a Rule", "A File", "shop", "Deny", "In This Workspace"]);
    assert.deepEqual((here as { rule: { place: unknown } }).rule.place, { folder: join(root, "shop"), path: "" });
  } finally {
    workspace.workspaceFolders = [];
    await rm(root, { recursive: true });
  }
});

test("rules of each kind are listed, changed and removed, and one for a path of every workspace never allows", async () => {
  const rules = empty();
  rules.add({ rule: { effect: "deny", tool: "*", path: "src/keys" }, reach: "always" });
  rules.add({ rule: { effect: "deny", tool: "read_file" }, reach: "workspace" });
  await chosen(rules, ["the path src/keys", "Ask"]);
  assert.deepEqual(window.shown.slice(0, 2).map((labels) => labels.slice(0, 2)), [["$(circle-slash) read_file", "$(circle-slash) the path src/keys"], ["Remove", "Ask each time"]]);
  assert.deepEqual(window.shown[1], ["Remove", "Ask each time"]);
  assert.deepEqual(rules.of("c").map(({ effect }) => effect), ["deny", "ask"]);
  assert.deepEqual(await chosen(rules, ["read_file", "Remove", "the path", "Remove"]), []);
});
