// The files of the workspace go along with the branches of a conversation.
import { doesNotMatch, equal, match } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { unfold } from "./harness/chat.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

scene("the files go along with the branch: what the model and a command changed comes and goes, the user's own stays", { files: { "notes.txt": "one\n", "own.txt": "mine\n" }, settings: { "coppice.chat.confirmTools": "never" } }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const text = (name: string): string | undefined => (existsSync(join(editor.workspace, name)) ? readFileSync(join(editor.workspace, name), "utf8") : undefined);
  const offer = chat.frame.getByTestId("files-offer");
  await chat.play(provider, { asks: "Write two.", answers: [
    { calls: [["w1", "write_file", { path: "notes.txt", content: "two\n" }]] },
    { calls: [["c1", "run_command", { command: "echo made > made.txt" }]] },
    { text: "Two is written." },
  ] });
  equal(text("made.txt"), "made\n");
  editor.write("own.txt", "mine, changed\n");

  provider.turn({ text: "Three it is." });
  const asked = chat.asked.filter({ hasText: "Write two." });
  await asked.hover();
  await asked.getByRole("button", { name: "Edit and Resend" }).click();
  const input = chat.frame.getByRole("textbox", { name: "Edited message" });
  await input.fill("Say three.");
  await input.press("Enter");
  await offer.filter({ hasText: /2 files differ there[^]*notes\.txt[^]*made\.txt/ }).waitFor();
  await window.screenshot("files-offer");
  await offer.getByRole("button", { name: "Conversation and Files" }).click();
  await chat.replies.filter({ hasText: "Three it is." }).waitFor();
  await chat.rests();
  equal(text("notes.txt"), "one\n");
  equal(text("made.txt"), undefined);
  equal(text("own.txt"), "mine, changed\n");
  // The files are as this branch left them, so its model need not know of it.
  doesNotMatch(JSON.stringify(provider.asked.at(-1)?.messages), /Read them again/);

  await chat.frame.getByRole("group", { name: "Alternatives" }).first().getByRole("button", { name: "Previous Alternative" }).click();
  await offer.getByRole("button", { name: "Cancel" }).click();
  await offer.waitFor({ state: "hidden" });
  await chat.replies.filter({ hasText: "Three it is." }).waitFor();
  await window.run("Notifications: Clear All Notifications");
  await chat.frame.getByRole("group", { name: "Alternatives" }).first().getByRole("button", { name: "Previous Alternative" }).click();
  await offer.getByRole("checkbox").check();
  await offer.getByRole("button", { name: "Conversation and Files" }).click();
  await chat.replies.filter({ hasText: "Two is written." }).waitFor();
  await until("the files of the branch are back", () => text("notes.txt") === "two\n" && text("made.txt") === "made\n");
  equal(text("own.txt"), "mine, changed\n");
  // From now on nothing is asked, and one step takes the conversation and its files back.
  await window.notifications.filter({ hasText: "Went to the branch" }).waitFor(); // Its Undo would be refused later.
  await window.run("Notifications: Clear All Notifications");
  await chat.frame.getByRole("group", { name: "Alternatives" }).first().getByRole("button", { name: "Next Alternative" }).click();
  await chat.replies.filter({ hasText: "Three it is." }).waitFor();
  await window.answerNotification("Went to the branch and changed 2 files.", "Undo");
  await chat.replies.filter({ hasText: "Two is written." }).waitFor();
  await until("the files are back with it", () => text("notes.txt") === "two\n" && text("made.txt") === "made\n");
  await chat.frame.getByRole("group", { name: "Alternatives" }).first().getByRole("button", { name: "Next Alternative" }).click();
  await chat.replies.filter({ hasText: "Three it is." }).waitFor();
  await until("the files have gone along", () => text("notes.txt") === "one\n" && text("made.txt") === undefined);
  equal(await offer.count(), 0);
  equal(existsSync(join(editor.workspace, ".git")), false);

  // Without its files the branch keeps them for the next time, wherever the conversation went meanwhile.
  // Both settings come into force together, and one of them can be seen.
  editor.configure({ "coppice.chat.branchFiles": "never", "coppice.chat.enterSends": false });
  await chat.frame.getByPlaceholder("Ask or instruct (Ctrl+Enter sends)").waitFor();
  const alternatives = chat.frame.getByRole("group", { name: "Alternatives" }).first();
  await alternatives.getByRole("button", { name: "Previous Alternative" }).click();
  await chat.replies.filter({ hasText: "Two is written." }).waitFor();
  provider.turn({ text: "I will read it again." });
  await alternatives.getByRole("button", { name: "Next Alternative" }).click();
  await chat.replies.filter({ hasText: "Three it is." }).waitFor();
  await alternatives.getByRole("button", { name: "Previous Alternative" }).click();
  await chat.replies.filter({ hasText: "Two is written." }).waitFor();
  await chat.input.fill("Go on.");
  await chat.input.press("Control+Enter");
  equal(text("notes.txt"), "one\n");
  await chat.replies.filter({ hasText: "I will read it again." }).waitFor();
  await chat.rests();
  match(JSON.stringify(provider.asked.at(-1)?.messages), /not as this conversation left them\. Read them again before you change them: \\"made\.txt\\", \\"notes\.txt\\"/);
});

const ALONE = { "coppice.chat.confirmTools": "never", "coppice.chat.branchFiles": "always", "coppice.branchSummary.ask": "never" };

scene("branches show what they changed, are compared, give single files, and show where one is", { files: { "notes.txt": "one\n" }, settings: { ...ALONE, "diffEditor.useInlineViewWhenSpaceIsLimited": false } }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const text = (name: string): string | undefined => (existsSync(join(editor.workspace, name)) ? readFileSync(join(editor.workspace, name), "utf8") : undefined);
  const row = (name: string | RegExp) => window.rows("Branches").filter({ hasText: name });
  await chat.play(provider, { asks: "Write two.", answers: [
    { calls: [["w1", "write_file", { path: "notes.txt", content: "two\n" }]] },
    { calls: [["c1", "run_command", { command: "echo made > made.txt" }]] },
    { text: "Two is written." },
  ] });
  await chat.play(provider, { asks: "And more?", answers: [{ text: "No more." }] });
  await chat.playInPlaceOf("Write two.", provider, { asks: "Write three.", answers: [
    { calls: [["c2", "run_command", { command: "(echo three; echo and a half) > notes.txt" }]] },
    { text: "Three is written." },
  ] });
  await chat.play(provider, { asks: "And four?", answers: [{ text: "No four." }] });
  await row(/Write two\..*2 files \+2 −1/).waitFor();
  await row(/Write three\..*1 file \+2 −1/).waitFor();
  await row(/And four\?.*current/).waitFor();

  // The current branch is on the left.
  await window.menu(row("Write two."), "Compare with Current Branch", () => window.editorTab("Current branch ↔ Write two.").isVisible());
  const sides = window.page.locator(".multiDiffEntry").filter({ hasText: "notes.txt" }).locator(".view-lines");
  await until("the files are compared", async () => {
    const [left = "", right = ""] = await sides.allInnerTexts();
    return /three/.test(left) && /half/.test(left) && /^two\s*$/.test(right);
  });
  await window.page.locator(".multiDiffEntry").filter({ hasText: "made.txt" }).waitFor();
  const replies = window.page.locator(".multiDiffEntry").filter({ hasText: "Last reply.md" }).locator(".view-lines");
  await until("the replies are compared", async () => (await replies.allInnerTexts()).join("|").replaceAll("\u00a0", " ") === "No four.|No more.");
  await window.screenshot("branches-compared");

  // One file of two, and back.
  const listed = async (): Promise<string> => (await window.choices.allInnerTexts()).join("\n");
  await window.menu(row("Write two."), "Take Files Over…", () => window.choices.nth(1).isVisible());
  match(await listed(), /made\.txt[^]*\+1[^]*notes\.txt[^]*\+1 −2/);
  await window.choose("made.txt");
  await window.page.getByRole("button", { name: "OK", exact: true }).click();
  await until("the file is taken over", () => text("made.txt") === "made\n");
  equal(text("notes.txt"), "three\nand a half\n");
  await window.answerNotification("Changed 1 file.", "Undo");
  await until("it is taken back", () => text("made.txt") === undefined);
  await window.notifications.filter({ hasText: "Changed 1 file." }).waitFor(); // The undo is done, and could be undone.

  // What the user changed since the last turn stays, and is named, whatever was taken over before.
  editor.write("notes.txt", "mine\n");
  await window.run("Notifications: Clear All Notifications");
  await window.menu(row("Write two."), "Take Files Over…", () => window.notifications.filter({ hasText: "notes.txt" }).isVisible());
  await window.choose("made.txt");
  equal(await window.choices.count(), 1);
  await window.page.getByRole("button", { name: "OK", exact: true }).click();
  await until("the other file is taken over", () => text("made.txt") === "made\n");
  equal(text("notes.txt"), "mine\n");

  // Folded, it is still seen where one is.
  await row("Write three.").hover();
  await window.page.getByRole("button", { name: "Collapse All" }).first().click();
  await row(/Write three\..*current inside/).waitFor();
  equal(await row("And four?").count(), 0);
  await window.screenshot("branches-folded");
  await window.run("Coppice: Show Current Branch");
  await row(/And four\?.*current/).waitFor();
  equal(await row("current inside").count(), 0);

  // A folded branch is gone to as a whole, an open row to itself.
  equal(await row("And more?").count(), 0);
  await row("Write two.").click();
  await chat.replies.filter({ hasText: "No more." }).waitFor();
  await row(/And more\?.*current/).waitFor();
  await window.menu(row("Write three."), "Go to This Message", () => chat.replies.filter({ hasText: "Three is written." }).isVisible());
  await row(/Write three\..*current/).waitFor();
  equal(await chat.replies.filter({ hasText: "No four." }).count(), 0);
});

const PRICES = { "coppice.chat.prices": { input: 0, cachedInput: 0, output: 1_000_000, currency: "€" } };

scene("a branch shows its changes, is compared with a selected one, and its summary states them; turns show what they cost", { files: { "notes.txt": "one\n" }, settings: { ...ALONE, ...PRICES, "coppice.branchSummary.ask": "always", "diffEditor.useInlineViewWhenSpaceIsLimited": false } }, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  const row = (name: string | RegExp) => window.rows("Branches").filter({ hasText: name });
  const notes = window.page.locator(".multiDiffEntry").filter({ hasText: "notes.txt" }).locator(".view-lines");
  const sides = async (left: RegExp, right: RegExp): Promise<boolean> => {
    const [from = "", to = ""] = await notes.allInnerTexts();
    return left.test(from) && right.test(to);
  };
  await chat.play(provider, { asks: "Write two.", answers: [{ calls: [["w1", "write_file", { path: "notes.txt", content: "two\n" }]] }, { text: "Two is written." }] });
  // A million tokens of output cost a million: each costs one.
  await chat.frame.getByTestId("turn-figures").filter({ hasText: /, (\d+) out\b.*€\1\.00$/ }).waitFor();
  await window.widenChat(420);
  const details = chat.frame.getByRole("button", { name: /^Context:/ });
  await details.click();
  await chat.frame.getByText(/Cost of the last turn €(\d+\.00), of the conversation €\1, of its compactions €0\.00; with all branches and unused summaries €\1\./).waitFor();
  await details.click();
  await chat.playInPlaceOf("Write two.", provider, { asks: "Write three.", answers: [{ calls: [["c1", "run_command", { command: "echo three > notes.txt; echo made > made.txt" }]] }, { text: "Three is written." }] });

  await row(/Write two\..*1 file/).waitFor();
  await window.menu(row("Write two."), "Show Changes of This Branch", () => window.editorTab("Changes of Write two.").isVisible());
  await until("the changes are shown", () => sides(/^one\s*$/, /^two\s*$/));
  await window.menu(row("Write two."), "Select for Compare");
  await window.menu(row("Write three."), "Compare with Selected", () => window.editorTab("Write two. ↔ Write three.").isVisible());
  await until("the files are compared", () => sides(/^two\s*$/, /^three\s*$/));

  // The files come along, but for one that the user went on with.
  editor.write("made.txt", "made, and mine\n");
  await window.run("View: Close All Editors");
  await row("Write two.").click();
  await chat.branchSummaries.waitFor();
  await chat.rests();
  await unfold(chat.branchSummaries);
  await chat.branchSummaries.getByText(/notes\.txt: changed \(\+1 −1\); no longer so on disk/).waitFor();
  await chat.branchSummaries.getByText(/made\.txt: created \(\+1\); still so on disk/).waitFor();
  equal(readFileSync(join(editor.workspace, "notes.txt"), "utf8"), "two\n");
  equal(readFileSync(join(editor.workspace, "made.txt"), "utf8"), "made, and mine\n");
});
