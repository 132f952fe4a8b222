import { equal, match, ok } from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const ASKED = { files: { ...FILES, "AGENTS.md": "Prices are in cents.\n", ".env": "SECRET=1\n", "src/env.py": "" } };
const ALLOWED = {
  files: { ...FILES, "prices.json": "{\n  \"pear\": 120\n}\n", "broken.json": "{,}\n" },
  settings: { "coppice.chat.confirmTools": "never" },
};

scene("a question leads to a changed file: the model reads, its edit is changed, allowed, shown as a diff, and undone", ASKED, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const file = (): string => readFileSync(join(editor.workspace, "src/api.py"), "utf8");
  const before = file();
  provider.turn({ text: "I'll read it.", calls: [["r1", "read_file", { path: "src/api.py" }], ["r2", "search", { pattern: "price: float" }]] });
  provider.turn({ calls: [["e1", "edit_file", { path: "src/api.py", edits: [{ oldText: "item.price}", newText: "item.price_cents / 100}" }] }]] });
  provider.turn({ calls: [["c1", "run_command", { command: "cat src/api.py; exit 3" }]] });
  provider.turn({ text: "The API divides by 100 now." });
  await chat.send("Let the API divide cents by 100.");

  await chat.approvals.filter({ hasText: "Edit src/api.py" }).getByRole("button", { name: "Change the Edit…" }).click();
  await window.editorTab("api.py: Proposed Edit").waitFor();
  await window.page.locator(".editor.modified .view-lines").filter({ hasText: "price_cents" }).click();
  await window.page.keyboard.press("Control+End");
  await window.page.keyboard.type("# In cents.");
  await chat.allow("Edit src/api.py");
  await window.editorTab("api.py: Proposed Edit").waitFor({ state: "hidden" });
  await chat.allow("Run a command");
  await chat.replies.filter({ hasText: "The API divides by 100 now." }).waitFor();
  await chat.rests();

  const [first, , third, fourth] = provider.asked;
  match(JSON.stringify(first?.messages[0]), /coding agent.*workspace_instructions.*Prices are in cents/s);
  ok(first?.tools?.some((tool) => tool.function.name === "edit_file"));
  const request = JSON.stringify(third?.messages);
  match(request, /def as_json/);
  match(request, /src\/prices\.py:7:/);
  match(JSON.stringify(fourth?.messages), /The user changed your edit before it was applied.*# In cents/);
  match(JSON.stringify(fourth?.messages.at(-1)), /price_cents \/ 100.*\[Exit code 3\]/);
  match(file(), /price_cents \/ 100[^]*# In cents\.$/);

  const edit = chat.frame.getByTestId("edit");
  await edit.locator(".added").filter({ hasText: "price_cents / 100" }).waitFor();
  await window.screenshot("agent-edit");
  await window.openFile("src/api.py");
  await edit.getByRole("button", { name: "Undo" }).click();
  await edit.getByText("Undone").waitFor();
  await until("the file is as before", () => file() === before);
  await chat.frame.getByText('The user undid your change of "src/api.py"').waitFor();
  // What was undone is one step of the editor's own history.
  await window.editorText.first().click();
  await window.page.keyboard.press("Control+Z");
  await window.editorText.filter({ hasText: "price_cents" }).waitFor();
});

scene("a file and a selection are attached, and what is sent during a turn follows it", ASKED, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await window.openFile("src/prices.py");
  await chat.frame.getByRole("button", { name: "Attach src/prices.py, the open file" }).waitFor();
  await window.page.keyboard.press("Control+A");
  await window.run("Coppice: Add Selection to Chat");
  await chat.frame.getByTestId("attachment").filter({ hasText: "prices.py" }).waitFor();
  await chat.input.pressSequentially("Compare with @api");
  await chat.frame.getByRole("option").filter({ hasText: "src/api.py" }).click();
  await chat.frame.getByTestId("attachment").filter({ hasText: "api.py" }).waitFor();
  await window.screenshot("attached");

  provider.turn({ text: "Comparing them word by word now.", waits: true });
  provider.turn({ text: "And the tests too." });
  await chat.input.press("Enter");
  await chat.draft.waitFor();
  await chat.send("And the tests?");
  await chat.frame.getByTestId("queue").filter({ hasText: "And the tests?" }).waitFor();
  provider.release();
  await chat.replies.filter({ hasText: "And the tests too." }).waitFor();
  await chat.rests();
  equal(await chat.frame.getByTestId("queue").count(), 0);

  const asked = JSON.stringify(provider.asked[0]?.messages.at(-1));
  match(asked, /Compare with @src\/api\.py.*attachment title=.*src\/prices\.py:1-\d+.*class Item.*attachment title=.*src\/api\.py.*def as_json/s);
  equal(await chat.asked.first().locator(".attached-block").count(), 2);
  await chat.input.pressSequentially("@env");
  await chat.frame.getByRole("option").filter({ hasText: "src/env.py" }).waitFor();
  equal(await chat.frame.getByRole("option").filter({ hasText: ".env" }).count(), 0);
  await chat.frame.getByTestId("conversation-picker").filter({ hasText: /^\s*Compare with/ }).waitFor();
});

scene("the model's edits are one step of the editor's history, and a new file can be taken away again", ALLOWED, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  await window.openFile("src/api.py");
  provider.turn({ calls: [
    ["e1", "edit_file", { path: "src/api.py", edits: [{ oldText: "as_json", newText: "to_json" }] }],
    ["w1", "write_file", { path: "docs/new/plan.md", content: "# Plan\n" }],
    ["x1", "read_file", { path: "../provider.txt" }],
  ] });
  provider.turn({ text: "Renamed." });
  await chat.send("Rename it.");
  await chat.replies.filter({ hasText: "Renamed." }).waitFor();
  await chat.rests();
  match(JSON.stringify(provider.asked[1]?.messages.at(-1)), /outside of the workspace/);
  await window.editorText.filter({ hasText: "to_json" }).waitFor();
  await window.editorText.first().click();
  await window.page.keyboard.press("Control+Z");
  await window.editorText.filter({ hasText: "as_json" }).waitFor();

  const plan = join(editor.workspace, "docs/new/plan.md");
  equal(readFileSync(plan, "utf8"), "# Plan\n");
  const made = chat.frame.getByTestId("edit").filter({ hasText: "plan.md" });
  await made.getByRole("button", { name: "Undo" }).click();
  await until("the new file is gone", () => !existsSync(plan));

  const api = (): string => readFileSync(join(editor.workspace, "src/api.py"), "utf8");
  await until("the editor has saved what was undone in it", () => api().includes("as_json"));
  const saved = api();
  provider.turn({ calls: [["e2", "edit_file", { path: "README.md", edits: [{ oldText: "A small shop", newText: "A small store" }] }]] });
  provider.turn({ text: "Renamed the shop." });
  await chat.send("Rename the shop.");
  await chat.replies.filter({ hasText: "Renamed the shop." }).waitFor();
  await chat.rests();
  const asked = chat.asked.filter({ hasText: "Rename the shop." });
  await asked.hover();
  await asked.getByRole("button", { name: "Restore Files to This Point" }).click();
  const offer = chat.frame.getByTestId("files-offer").filter({ hasText: /Restore 1 file as at this message\?[^]*README\.md/ });
  await offer.getByRole("button", { name: "Restore" }).click();
  const readme = (): string => readFileSync(join(editor.workspace, "README.md"), "utf8");
  await until("the file is restored", () => readme().includes("A small shop"));
  equal(api(), saved);
  await window.answerNotification("Changed 1 file", "Undo");
  await until("the restoring is undone", () => readme().includes("A small store"));
});

scene("the changes of a turn are reviewed in one editor, and undone as a whole next to the user's own", ALLOWED, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const readme = join(editor.workspace, "README.md");
  const made = join(editor.workspace, "made.txt");
  const before = readFileSync(readme, "utf8");
  provider.turn({ calls: [["e1", "edit_file", { path: "README.md", edits: [{ oldText: "# Shop", newText: "# Store" }] }], ["c1", "run_command", { command: "echo made > made.txt" }]] });
  provider.turn({ text: "It is a store." });
  await chat.send("Make it a store.");
  await chat.replies.filter({ hasText: "It is a store." }).waitFor();
  await chat.rests();
  const card = chat.frame.getByTestId("turn-files");
  await card.filter({ hasText: /2 changed files\s*README\.md\s*\+1\s*−1\s*made\.txt\s*\+1/ }).waitFor();

  await chat.frame.getByTestId("edit").getByText("1 line added, 1 removed").waitFor({ state: "attached" });
  await card.getByRole("button", { name: "Review" }).click();
  await window.page.locator(".multiDiffEntry").filter({ hasText: "README.md" }).filter({ hasText: "# Shop" }).filter({ hasText: "# Store" }).waitFor();
  await window.page.locator(".multiDiffEntry").filter({ hasText: "made.txt" }).waitFor();
  await window.screenshot("turn-review");

  const own = "\n\n\n\nWritten by the user.\n";
  writeFileSync(readme, readFileSync(readme, "utf8") + own);
  await card.getByRole("button", { name: "Undo All" }).click();
  await until("the turn's changes are gone, and the user's stay", () => !existsSync(made) && readFileSync(readme, "utf8") === before + own);
  await card.waitFor({ state: "detached" });
  await chat.frame.getByTestId("edit").getByText("Undone").waitFor();

  await window.answerNotification("Changed 2 files", "Undo");
  await until("the turn's changes are back", () => existsSync(made) && readFileSync(readme, "utf8") === before.replace("# Shop", "# Store") + own);
  await card.getByRole("button", { name: "Keep All" }).click();
  await card.waitFor({ state: "detached" });
  await chat.frame.getByTestId("edit").getByText("Kept").waitFor();
});

scene("errors that an edit causes go back to the model", ALLOWED, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  // The language server for JSON runs once it has reported something.
  await window.openFile("broken.json");
  await window.page.locator(".squiggly-error").first().waitFor();
  await window.openFile("prices.json");
  provider.turn({ calls: [["e1", "edit_file", { path: "prices.json", edits: [{ oldText: "120", newText: "120," }] }]] });
  provider.turn({ calls: [["e2", "edit_file", { path: "prices.json", edits: [{ oldText: "120,", newText: "130" }] }]] });
  provider.turn({ text: "Mended." });
  await chat.send("Add a comma.");
  await chat.replies.filter({ hasText: "Mended." }).waitFor();
  await chat.rests();
  const [, broken, mended] = provider.asked.map(({ messages }) => JSON.stringify(messages.at(-1)));
  match(broken ?? "", /new errors in prices\.json since this edit:\\n\d+:\d+ /);
  match(mended ?? "", /"Changed prices\.json\."/);
});

scene("a command's output appears while it runs; it is left running, listed, and ended", ALLOWED, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const command = "trap 'touch ended; exit' TERM; printf '10%%\\r\\033[32m100%%\\033[0m\\nListening\\n'; while :; do sleep 0.1; done";
  provider.turn({ calls: [["c1", "run_command", { command }]] });
  provider.turn({ text: "It listens." });
  await chat.send("Start the server.");
  const live = chat.frame.getByTestId("live-command");
  await live.getByText("Listening").waitFor();
  await window.screenshot("command-runs");
  await live.getByRole("button", { name: "Leave Running" }).click();
  await chat.replies.filter({ hasText: "It listens." }).waitFor();
  await chat.rests();
  match(JSON.stringify(provider.asked.at(-1)?.messages.at(-1)), /"100%\\nListening\\n\[The user leaves the command running/);
  const left = chat.frame.getByTestId("left-commands");
  await left.getByRole("button", { name: /Listening/ }).click();
  await left.getByRole("region", { name: "Output" }).filter({ hasText: "Listening" }).waitFor();
  await left.getByRole("button", { name: "End Command" }).click();
  await left.waitFor({ state: "hidden" });
  await until("the command has ended", () => existsSync(join(editor.workspace, "ended")));
});

const API = FILES["src/api.py"];
const MARKED = `\ufeff${API.replaceAll("\n", "\r\n")}`;

scene("edits follow what a command changed in open files, also where the editor does not notice it; unsaved text stays", {
  files: { ...FILES, "generated/api.py": API, "generated/marked.py": MARKED, "marked.py": MARKED, "notes.md": "# Notes\n" },
  settings: { "coppice.chat.confirmTools": "never", "files.autoSave": "off", "files.watcherExclude": { "**/generated/**": true } },
}, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const onDisk = (name: string): string => readFileSync(join(editor.workspace, name), "utf8");
  const open = ["src/api.py", "generated/api.py", "generated/marked.py"];
  for (const name of open) await window.openFile(name);
  await window.openFile("notes.md");
  await window.page.keyboard.type("Mine. ");

  const changed = [...open, "marked.py"];
  provider.turn({ calls: [
    ["c1", "run_command", { command: `sed -i s/as_json/by_command/ ${changed.join(" ")}; echo 'By a command.' >> notes.md` }],
    ...changed.map((path): [string, string, Record<string, unknown>] => [path, "edit_file", { path, edits: [{ oldText: "def by_command", newText: "def by_model" }] }]),
    ["n1", "edit_file", { path: "notes.md", edits: [{ oldText: "# Notes", newText: "# Remarks" }] }],
  ] });
  provider.turn({ text: "Renamed." });
  await chat.send("Rename it.");
  for (const at of changed.keys()) await chat.frame.getByTestId("edit").nth(at).waitFor(); // Each takes some seconds.
  await chat.replies.filter({ hasText: "Renamed." }).waitFor();
  await chat.rests();

  const results = (provider.asked[1]?.messages ?? []).map((message) => JSON.stringify(message)).slice(-changed.length - 1);
  for (const [index, name] of changed.entries()) {
    ok(results[index]?.includes(`"Changed ${name}."`), results[index]);
    equal(onDisk(name), (name.endsWith("marked.py") ? MARKED : API).replace("as_json", "by_model"));
  }
  match(results.at(-1) ?? "", /notes\.md.*not saved.*newer on the disk/);
  equal(onDisk("notes.md"), "# Notes\nBy a command.\n");
  await window.editorText.filter({ hasText: "Mine." }).waitFor();
});
