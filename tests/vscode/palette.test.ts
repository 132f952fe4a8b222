import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const HOW = { asks: "How could prices be kept?", answers: [{ text: "As cents or as Decimal." }] };
const CENTS = { asks: "Try cents.", answers: [{ text: "Cents it is: sums are exact." }] };
const DECIMAL = { asks: "Try Decimal.", answers: [{ text: "Decimal it is: slower, and exact." }] };
const PLAIN = {};

scene("a conversation is renamed, exported, forked, searched, looked at as the model sees it, and deleted", PLAIN, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, HOW);
  await chat.play(provider, CENTS);
  await chat.playInPlaceOf(CENTS.asks, provider, DECIMAL);

  await window.runAndAnswer("Coppice: Rename Conversation…", "Money matters");
  await chat.frame.getByText("Money matters").first().waitFor();

  await window.runAndChoose("Coppice: Export Conversation…", "Markdown");
  const file = join(editor.home, "money.md");
  await window.chooseFile(file);
  await window.answerNotification("is exported", "Open");
  await window.editorTab("money.md").waitFor();
  match(readFileSync(file, "utf8"), /Money matters[^]*Decimal it is/);

  const fork = { asks: "And in another currency?", answers: [{ text: "Only the fork knows of the guilder." }] };
  const branches = window.rows("Branches");
  await window.menu(branches.filter({ hasText: HOW.asks }), "Fork from Here", async () => (await chat.asked.count()) === 1);
  await chat.play(provider, fork);
  await window.run("Coppice: Search Conversations…");
  await window.look("Words of any branch", "slower");
  await window.choose("slower");
  await chat.replies.filter({ hasText: "Decimal it is" }).waitFor();
  equal(await chat.asked.count(), 2);

  await window.run("Coppice: Show What the Model Sees");
  await window.editorText.getByText("system prompt").waitFor();
  await until("the view has the end", async () => (await window.copiedText()).includes("slower, and exact"));
  await window.run("Coppice: Delete Conversation…");
  const question = window.dialog.filter({ hasText: "Delete “Money matters”?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  equal(await chat.asked.count(), 2);
  await window.run("Coppice: Delete Conversation…");
  await question.getByRole("button", { name: "Delete" }).click();
  await until("the chat is empty", async () => (await chat.asked.count()) === 0);
  await window.editorText.getByText("This conversation is deleted.").waitFor();
  await window.run("Coppice: Open Conversation…");
  const listed = window.choices.filter({ hasText: /\d entries/ });
  await listed.first().waitFor();
  equal(await listed.count(), 1);
  await listed.first().click();
  await chat.replies.filter({ hasText: "guilder" }).waitFor();
});

scene("a note is added from the palette and the input, shown to the model, changed and removed", PLAIN, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await until("a note is added", async () => {
    await window.runAndAnswer("Coppice: Add Note…", "Prices are cents everywhere.");
    // VS Code drops what an input box checks when the focus leaves it, as for a chat whose focus comes late.
    return window.page.locator(".statusbar").getByText("The note was added.").waitFor({ timeout: 15_000 }).then(() => true, () => false);
  });
  await chat.input.pressSequentially("/note Releases are cut on Tuesdays.");
  await chat.input.press("Enter");
  await until("the input is empty", async () => (await chat.input.inputValue()) === "");
  await until("both notes are stored", async () => {
    await window.run("Coppice: Show Notes");
    await window.choices.filter({ hasText: "Add Note…" }).waitFor();
    const notes = (await window.choices.count()) - 1;
    await window.page.keyboard.press("Escape");
    return notes === 2;
  });
  await chat.play(provider, HOW);
  match(JSON.stringify(provider.asked.at(-1)?.messages), /Prices are cents everywhere[^]*Releases are cut on Tuesdays/);

  await window.run("Coppice: Show Notes");
  await window.screenshot("notes");
  await window.choose("Prices are cents everywhere.");
  await window.answerTo("Change Note", "Prices are whole cents.");
  await window.page.locator(".statusbar").getByText("The note was changed.").waitFor();
  await chat.play(provider, CENTS);
  match(JSON.stringify(provider.asked.at(-1)?.messages), /Prices are whole cents/);
});

scene("conversations are kept without a folder, and each in its own folder where there are two", PLAIN, async ({ editor, window, provider }) => {
  const stores = () => readdirSync(editor.storage).filter((name) => name.endsWith(".sqlite3")).map((name) => name.replace(/-\w+\.sqlite3$/, "")).sort();
  const origin = new URL(editor.url).origin;
  await window.page.goto(`${origin}/?ew=true`);
  await window.ready();
  let chat = await window.openCoppice();
  await chat.play(provider, { asks: "Where are we?", answers: [{ text: "Nowhere." }] });
  await window.runAndChoose("Coppice: Export Conversation…", "Markdown");
  await window.chooseFile(join(editor.home, "nowhere.md"));
  await until("it is exported", () => readdirSync(editor.home).includes("nowhere.md"));

  mkdirSync(join(editor.home, "depot"));
  const workspace = join(editor.home, "both.code-workspace");
  writeFileSync(workspace, JSON.stringify({ folders: [{ path: "shop" }, { path: "depot" }] }));
  // A window that is there before VS Code has read the workspace's file has no folders until it is loaded again.
  await until("the window has its folders", async () => {
    await window.page.goto(`${origin}/?workspace=${encodeURIComponent(workspace)}`);
    await window.ready();
    return window.page.getByRole("treeitem", { name: "depot" }).first().waitFor({ timeout: 10_000 }).then(() => true, () => false);
  });
  chat = await window.openCoppice();
  for (const folder of ["depot", "shop"]) {
    await window.runAndChoose("Coppice: New Conversation", folder);
    await window.page.getByText("This conversation has no messages yet.").waitFor();
    await until("the chat is empty", async () => (await chat.asked.count()) === 0);
    await chat.meter.waitFor();
    await chat.frame.locator("textarea:focus").waitFor();
    await chat.play(provider, { asks: `In the ${folder}?`, answers: [{ text: `The ${folder} it is.` }] });
  }
  await window.runAndChoose("Coppice: Open Conversation…", "In the depot?");
  await chat.replies.filter({ hasText: "The depot it is." }).waitFor();
  deepEqual(stores(), ["coppice", "depot", "shop"]);
});

const IN_GIT = { files: { "src/api.py": "unit = 'euro'\n" }, settings: { "git.enabled": true }, tools: "allow" } as const;

scene("the menus of Branches pin and copy, a modified file opens as a difference, and a key reaches the server alone", IN_GIT, async ({ editor, window, provider }) => {
  const git = (...words: string[]) => execFileSync("git", ["-c", "user.name=Shop", "-c", "user.email=shop@example.com", ...words], { cwd: editor.workspace });
  for (const words of ["init -q", "add .", "commit -q -m shop"]) git(...words.split(" "));
  await window.reload();
  const chat = await window.openCoppice();
  await chat.play(provider, HOW);
  await chat.play(provider, CENTS);
  const written = { path: "src/api.py", content: "unit = 'cent'\n" };
  await chat.playInPlaceOf(CENTS.asks, provider, { asks: "Write it down.", answers: [{ calls: [["call-1", "write_file", written]] }, { text: "It is in the API." }] });

  await window.rows("Branches").filter({ hasText: /Write it down.*current/ }).waitFor();
  const row = window.rows("Branches").filter({ hasText: HOW.asks });
  const pinned = row.locator(".codicon-pinned");
  await window.menu(row, "Pin", () => pinned.isVisible());
  await window.menu(row, "Unpin", () => pinned.isHidden());
  await window.menu(row, "Copy Text", async () => (await window.clipboard()) === HOW.asks);

  await window.expand("Files");
  await window.rows("Files").filter({ hasText: "api.py" }).click();
  await window.editorTab("api.py (HEAD ↔ Working Tree)").waitFor();
  await window.editorText.getByText("unit = 'euro'").first().waitFor(); // An inline difference shows it as a deleted line.

  const key = "a-key-for-nothing";
  const keyed = () => editor.servers().filter((pid) => editor.environment(pid)["COPPICE_API_KEY"] === key);
  await window.runAndAnswer("Coppice: Set API Key…", key);
  await until("a server has the key", () => keyed().length === 1);
  await chat.play(provider, { asks: "Who asks?", answers: [{ text: "Somebody with a key." }] });
  ok(!editor.logs().includes(key));
  for (const settings of ["Machine", "User"]) ok(!readFileSync(join(editor.profile, settings, "settings.json"), "utf8").includes(key));
  await window.run("Coppice: Remove API Key…");
  await until("no server has the key", () => editor.servers().length === 1 && keyed().length === 0);
  await chat.play(provider, { asks: "Who asks now?", answers: [{ text: "Anybody." }] });
});
