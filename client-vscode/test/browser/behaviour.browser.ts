/** What a person does in the panel, and what it does. */
import assert from "node:assert/strict";

import type { ToPage } from "../../src/chat/messages";
import type { Entry } from "../../src/protocol.gen";
import { inBrowser } from "./panel";
import { assistant, BREAKDOWN, call, COMPACTION, CONVERSATION, entry, result, RUNNING, shown, TALK, USAGE, user } from "./samples";

const LONG: readonly Entry[] = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? user(`Question ${at}`) : assistant(`Answer ${at}.\n\nIt has two paragraphs.`)));

inBrowser("Enter sends, Shift+Enter makes a line, and what is sent is gone from the input", {}, async (panel) => {
  await panel.post(RUNNING, shown([]));
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("one");
  await input.press("Shift+Enter");
  await input.pressSequentially("two");
  await input.press("Enter");
  assert.deepEqual((await panel.asked()).filter(({ type }) => type === "send"), [{ type: "send", text: "one\ntwo" }]);
  assert.equal(await input.inputValue(), "");
});

inBrowser("where Enter makes a line, Ctrl+Enter sends", {}, async (panel) => {
  await panel.post(RUNNING, shown([]), { type: "preferences", enterSends: false });
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("one");
  await input.press("Enter");
  await input.pressSequentially("two");
  await input.press("Control+Enter");
  assert.deepEqual((await panel.asked()).filter(({ type }) => type === "send"), [{ type: "send", text: "one\ntwo" }]);
});

inBrowser("nothing is sent when nothing is written, and what is sent while a turn runs leaves the input", {}, async (panel) => {
  await panel.post(RUNNING, shown([]));
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("  ");
  await input.press("Enter");
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.deepEqual((await panel.asked()).map(({ type }) => type), ["ready"]);
  await input.fill("later");
  await input.press("Enter");
  assert.equal(await input.inputValue(), "");
  assert.deepEqual((await panel.asked()).at(-1), { type: "send", text: "later" });
});

inBrowser("Stop, Escape and Cancel stop what runs", {}, async (panel) => {
  await panel.post(RUNNING, shown([], { running: true, work: { title: "Compacting", percentage: 10, cancellable: true } }));
  await panel.page.getByRole("button", { name: "Stop" }).click();
  await panel.page.getByRole("textbox", { name: "Message" }).press("Escape");
  await panel.page.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await panel.asked()).filter(({ type }) => type === "stop").length, 3);
});

inBrowser("what is typed is kept for each conversation, also over a reload", {}, async (panel) => {
  await panel.post(RUNNING, shown([]));
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("for the first");
  await panel.post(shown([], { conversation: { ...CONVERSATION, id: "c2" } }));
  assert.equal(await input.inputValue(), "");
  await input.fill("for the second");
  await panel.post(shown([]));
  assert.equal(await input.inputValue(), "for the first");
  assert.deepEqual(await panel.remembered(), { drafts: { c1: "for the first", c2: "for the second" }, places: {} });
});

inBrowser("text of the host fills the input of its conversation alone", {}, async (panel) => {
  await panel.post(RUNNING, shown([]), { type: "draft", conversationId: "c1", text: "to edit" }, { type: "focus" });
  const input = panel.page.getByRole("textbox", { name: "Message" });
  assert.equal(await input.inputValue(), "to edit");
  assert.ok(await input.evaluate((element) => element === document.activeElement));
  await panel.post({ type: "draft", conversationId: "c2", text: "of the second" });
  assert.equal(await input.inputValue(), "to edit");
  for (const id of ["c3", "c2", "c1", "c3"]) {
    await panel.post(shown([], { conversation: { ...CONVERSATION, id } }));
    assert.equal(await input.inputValue(), { c1: "to edit", c2: "of the second" }[id] ?? "", id);
  }
});

inBrowser("the composer, its stop button and the meter stay in sight under notices and the open meter", { width: 300, height: 420 }, async (panel) => {
  const notices = ["one", "two", "three"].map((word) => ({ type: "notice" as const, level: "error" as const, text: `${word} `.repeat(60) }));
  await panel.post(RUNNING, shown(TALK, { running: true, work: { title: "Compacting", percentage: 3, cancellable: true } }), ...notices);
  await panel.page.getByRole("button", { name: /^Context:/ }).click();
  await panel.post({ type: "usage", conversationId: "c1", usage: { ...USAGE, breakdown: BREAKDOWN } });
  for (const part of [panel.page.getByRole("textbox", { name: "Message" }), panel.page.getByRole("button", { name: "Stop" }), panel.page.getByRole("meter")]) {
    const box = await part.boundingBox();
    assert.ok(box !== null && box.y >= 0 && box.y + box.height <= 420, JSON.stringify(box));
  }
});

inBrowser("a clearing of tool results is undone on its line, while it is the newest and nothing runs", {}, async (panel) => {
  const clearing = (id: string): Entry => ({ id, parentId: null, timestamp: "", type: "context_edit", cleared: ["a", "b"], saved: { tokenizer: 24_310, estimate: 25_000 }, reason: "automatic" });
  await panel.post(RUNNING, shown([COMPACTION, clearing("older"), user("On."), clearing("newest")]));
  await panel.page.getByTestId("compaction").getByRole("button").first().click();
  assert.equal(await panel.page.getByRole("button", { name: "Undo Compaction" }).count(), 0, "what came last is undone first");
  await panel.page.getByTestId("cleared").last().getByRole("button", { name: "Undo Clearing" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "undoCompaction", entryId: "newest" });
  assert.equal(await panel.page.getByRole("button", { name: "Undo Clearing" }).count(), 1);
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.equal(await panel.page.getByRole("button", { name: "Undo Clearing" }).count(), 0);
});

inBrowser("only the newest compaction can be undone, and only while nothing runs", {}, async (panel) => {
  const older = { ...COMPACTION, id: "older" };
  await panel.post(RUNNING, shown([older, user("On."), COMPACTION]));
  for (const card of await panel.page.getByTestId("compaction").all()) await card.getByRole("button").first().click();
  await panel.page.getByRole("button", { name: "Undo Compaction" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "undoCompaction", entryId: "compaction-1" });
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.equal(await panel.page.getByRole("button", { name: "Undo Compaction" }).count(), 0);
});

inBrowser("the meter shows its state in words, and its parts when it is opened", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  const meter = panel.page.getByRole("meter", { name: "Context" });
  assert.equal(await meter.getAttribute("aria-valuetext"), "23,480 of 200,000 tokens used, 11.7%. Compacts above 183,616.");
  await panel.page.getByRole("button", { name: /^Context:/ }).click();
  await panel.post({ type: "usage", conversationId: "c1", usage: { ...USAGE, tokens: 30_000 } });
  assert.equal(await meter.getAttribute("aria-valuenow"), "30000");
  // The parts are out of date now, and asked for again.
  await panel.page.waitForFunction(() => (globalThis as unknown as { posted: { type: string }[] }).posted.filter(({ type }) => type === "showUsage").length === 2);
});

inBrowser("the list of conversations is used with the keyboard", {}, async (panel) => {
  await panel.post(RUNNING, shown([]), { type: "conversations", conversations: [CONVERSATION, { ...CONVERSATION, id: "c2", name: "Second" }] });
  const button = panel.page.getByRole("button", { name: /^Conversation:/ });
  await button.focus();
  await panel.page.keyboard.press("Enter");
  await panel.page.getByRole("option", { name: /Second/ }).waitFor();
  await panel.page.keyboard.press("ArrowDown");
  await panel.page.keyboard.press("Enter");
  assert.deepEqual((await panel.asked()).at(-1), { type: "open", conversationId: "c2" });
  assert.equal(await panel.page.getByRole("listbox").count(), 0);
  assert.ok(await button.evaluate((element) => element === document.activeElement));

  await panel.page.keyboard.press("Enter");
  await panel.page.getByRole("option", { name: "New Conversation" }).waitFor();
  await panel.page.keyboard.press("Home");
  await panel.page.keyboard.press("Enter");
  assert.deepEqual((await panel.asked()).at(-1), { type: "newConversation" });
});

inBrowser("links and copying go through the host", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  await panel.page.getByRole("link", { name: "the reader" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "openLink", href: "src/importer/lines.py#L12" });
  await panel.page.getByRole("button", { name: "Copy", exact: true }).first().click();
  const copied = (await panel.asked()).at(-1);
  assert.ok(copied?.type === "copy" && copied.text.startsWith("def lines(chunks):"));
  assert.equal(panel.page.url(), "http://panel.test/");
});

inBrowser("a message is edited in place, and nothing changes before it is sent", {}, async (panel) => {
  await panel.post(RUNNING, shown(LONG.slice(0, 4)));
  const { page } = panel;
  await page.getByRole("textbox", { name: "Message" }).fill("my draft");
  const edit = page.getByRole("button", { name: "Edit and Resend" }).first();
  await edit.focus();
  await page.keyboard.press("Enter");
  const field = page.getByRole("textbox", { name: "Edited message" });
  assert.equal(await field.inputValue(), "Question 0");
  assert.ok(await field.evaluate((element) => element === document.activeElement));
  await field.fill("changed");
  await page.keyboard.press("Escape");
  assert.equal(await field.count(), 0);
  await page.getByText("Answer 3.").waitFor();

  await edit.focus();
  await page.keyboard.press("Enter");
  await field.fill("another question");
  assert.deepEqual((await panel.asked()).map(({ type }) => type), ["ready"]);
  await page.keyboard.press("Enter");
  assert.deepEqual((await panel.asked()).at(-1), { type: "resend", entryId: LONG[0]?.id, text: "another question" });
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "my draft");
  await panel.post(shown([], { conversation: { ...CONVERSATION, id: "c2" } }));
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "");
});

inBrowser("a turn that failed says so once, with what helps", {}, async (panel) => {
  const asked = user("Hello");
  const failed = entry({ role: "assistant", content: [{ type: "text", text: "Partly" }], stopReason: "error", errorMessage: "The provider refuses the key." });
  await panel.post(RUNNING, shown([asked, failed]), { type: "turnFailed", conversationId: "c1", kind: "auth" });
  const { page } = panel;
  await page.getByText("The provider refuses the key.").waitFor();
  assert.equal(await page.getByTestId("notice").count(), 0);
  await page.getByRole("button", { name: "Set API Key" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.setApiKey" });
  await page.getByRole("button", { name: "Retry" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "resend", entryId: asked.id });
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.equal(await page.getByRole("button", { name: "Retry" }).count(), 0);
});

inBrowser("each state of the server has its words, its action and the log, and goes when it is over", {}, async (panel) => {
  const states = [
    [{ state: "absent", canInstall: true }, "Coppice needs its server", "Install", "coppice.installServer"],
    [{ state: "absent", canInstall: true, message: "No Python was found." }, "No Python was found.", "Try Again", "coppice.installServer"],
    [{ state: "absent", canInstall: false, message: "names no program" }, "names no program", "Choose Server…", "coppice.chooseServer"],
    [{ state: "installing", message: "Installing pygls" }, "Installing pygls", "Cancel", "coppice.cancelInstallation"],
    [{ state: "failed", message: "It ended." }, "It ended.", "Restart Server", "coppice.restartServer"],
    [{ state: "stopped" }, "The server is stopped", "Start Server", "coppice.restartServer"],
  ] as const;
  for (const [state, words, action, command] of states) {
    await panel.post({ type: "server", ...state });
    await panel.page.getByText(words).waitFor();
    await panel.page.getByRole("button", { name: action }).focus();
    await panel.page.keyboard.press("Enter");
    assert.deepEqual((await panel.asked()).at(-1), { type: "run", command });
    await panel.page.getByRole("button", { name: "Show Log" }).click();
    assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.showLog" });
  }
  await panel.post({ type: "server", state: "starting" });
  await panel.page.getByText("Starting the server…").waitFor();
  await panel.post(RUNNING, shown(TALK));
  assert.equal(await panel.page.locator(".server").count(), 0);
  await panel.post({ type: "server", state: "failed" });
  assert.ok(await panel.page.getByTestId("server-failed").isVisible());
  assert.ok(await panel.page.getByRole("textbox", { name: "Message" }).isDisabled());
});

inBrowser("an empty conversation without a model offers to choose one, until there is one", {}, async (panel) => {
  const action = { label: "Choose a Model", command: "coppice.setUpModel" } as const;
  await panel.post(RUNNING, { type: "model", problem: "No model is set." }, shown([]));
  const choose = panel.page.getByTestId("choose-model").getByRole("button", { name: "Choose a Model" });
  await choose.click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.setUpModel" });
  await panel.post({ type: "notice", level: "error", text: "No model is set.", action }, { type: "notice", level: "error", text: "Another." });
  await panel.post({ type: "model", name: "m" });
  assert.equal(await choose.count(), 0);
  assert.deepEqual(await panel.page.getByTestId("notice").allTextContents(), ["Error: Another."]);
});

inBrowser("no width makes the page scroll sideways", { height: 3000 }, async (panel) => {
  await panel.post(RUNNING, shown([...TALK, user("x".repeat(400)), assistant(`\`${"y".repeat(400)}\`\n\n${"| a ".repeat(30)}|\n${"|---".repeat(30)}|`)]));
  for (const width of [220, 280, 400, 900]) {
    await panel.resize({ width, height: 3000 });
    const wide = await panel.page.evaluate(() => [...document.querySelectorAll(".log > *, .footer > *, .header")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.className));
    assert.deepEqual(wide, [], `${width} pixels`);
  }
});

inBrowser("where no model is set, one that VS Code offers is a click away; other notices offer none", {}, async (panel) => {
  const action = { label: "Choose a Model", command: "coppice.setUpModel" } as const;
  await panel.post(RUNNING, shown([]), { type: "notice", level: "error", text: "No model is set.", action }, { type: "notice", level: "error", text: "The disk is full." });
  const use = panel.page.getByRole("button", { name: "Use Scripted of VS Code" });
  assert.equal(await use.count(), 0);
  await panel.post({ type: "modelOffer", name: "Scripted" });
  assert.equal(await use.count(), 1);
  await panel.post({ type: "modelOffer" });
  assert.equal(await use.count(), 0);
  await panel.post({ type: "modelOffer", name: "Scripted" });
  await use.click();
  assert.deepEqual((await panel.asked()).filter(({ type }) => type === "takeModel"), [{ type: "takeModel" }]);
  assert.deepEqual(await panel.page.locator(".notice-text").allInnerTexts(), ["The disk is full."]);
});

inBrowser("notices leave when the next turn begins, and those that only inform leave by themselves", { hasClock: true }, async (panel) => {
  const texts = () => panel.page.locator(".notice-text").allInnerTexts();
  await panel.deliver(RUNNING, shown([]), { type: "notice", level: "info", text: "Nothing to compact." }, { type: "notice", level: "error", text: "The disk is full." });
  await panel.page.clock.runFor(1000);
  assert.deepEqual(await texts(), ["Nothing to compact.", "The disk is full."]);
  await panel.page.clock.runFor(10_000);
  assert.deepEqual(await texts(), ["The disk is full."]);
  await panel.deliver({ type: "turn", conversationId: "c1", running: true });
  await panel.page.clock.runFor(1000);
  assert.deepEqual(await texts(), []);
});

inBrowser("a workspace that is not trusted is named, with the way to trust it, until it is", {}, async (panel) => {
  await panel.post(RUNNING, shown([]), { type: "preferences", enterSends: true, restricted: true });
  await panel.page.getByTestId("restricted").getByRole("button", { name: "Manage Trust" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "workbench.trust.manage" });
  await panel.post({ type: "preferences", enterSends: true, restricted: false });
  assert.equal(await panel.page.getByTestId("restricted").count(), 0);
});

inBrowser("Ctrl+Alt+C leads to the input from everywhere in the page, and the page says when it has lost the focus", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  await panel.page.getByRole("button", { name: /^Conversation:/ }).focus();
  await panel.page.keyboard.press("Control+Alt+KeyC");
  await panel.page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await panel.page.evaluate(() => dispatchEvent(new FocusEvent("blur")));
  assert.deepEqual((await panel.posted()).at(-1), { type: "blurred" });
});

inBrowser("a wait for the provider counts down, can be ended and stopped, and goes with the first piece of the reply", { hasClock: true }, async (panel) => {
  const { page } = panel;
  const wait = page.getByTestId("wait");
  const post = async (...messages: ToPage[]): Promise<void> => {
    await panel.deliver(...messages);
    await page.clock.runFor(100);
  };
  const update = (given: Extract<ToPage, { type: "update" }>["update"]): ToPage => ({ type: "update", conversationId: "c1", update: given });
  await post(RUNNING, shown([user("Hello?")], { running: true }), update({ kind: "wait", attempt: 2, seconds: 90, message: "Too many requests." }));
  assert.match(await wait.innerText(), /Too many requests\.[^]*Asking again in 1:30 min, try 3/);
  await page.clock.runFor(31_000);
  assert.match(await wait.innerText(), /in 59 s/);
  await wait.getByRole("button", { name: "Now" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "askNow" });
  await wait.getByRole("button", { name: "Stop" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "stop" });
  await page.clock.runFor(60_000);
  assert.match(await wait.innerText(), /Asking again…/);
  await post(update({ kind: "text", text: "Hello." }));
  assert.equal(await wait.count(), 0);
});

inBrowser("a turn that was stopped, killed or cut can be continued where it is, and an answered one cannot", {}, async (panel) => {
  const asked = user("Look.");
  const stopped = entry({ role: "assistant", content: [{ type: "text", text: "Partly" }], stopReason: "aborted" });
  const calling = entry({ role: "assistant", content: [call("t1", "run_command", { command: "ls" })], stopReason: "toolUse" });
  const cut = entry({ role: "assistant", content: [{ type: "text", text: "Partly" }], stopReason: "length" });
  const resume = panel.page.getByRole("button", { name: "Continue", exact: true });
  for (const entries of [[asked, stopped], [asked, cut], [asked, cut, cut], [asked], [asked, calling], [asked, calling, result("t1", "run_command", "a b")]]) {
    await panel.post(RUNNING, shown(entries));
    await resume.click();
    assert.deepEqual((await panel.asked()).at(-1), { type: "resume" });
    await panel.post({ type: "turn", conversationId: "c1", running: true });
    assert.equal(await resume.count(), 0);
  }
  for (const entries of [[asked, assistant("Answered.")], [asked, cut, asked, assistant("Answered.")]]) {
    await panel.post(shown(entries));
    await panel.page.getByText("Answered.").waitFor();
    assert.equal(await resume.count(), 0);
  }
});

inBrowser("a file's place in a reply is a link to its line", {}, async (panel) => {
  await panel.post(RUNNING, shown([user("Where?"), assistant("In `prices.py:5`, see src/shop.py:12 and [here](src/a.py:3).")]));
  for (const [name, href] of [["prices.py:5", "prices.py:5"], ["src/shop.py:12", "src/shop.py:12"], ["here", "src/a.py:3"]] as const) {
    await panel.page.getByRole("link", { name }).click();
    assert.deepEqual((await panel.asked()).at(-1), { type: "openLink", href });
  }
});

inBrowser("the rows of the open meter add up to what it says", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK));
  await panel.page.getByRole("button", { name: /^Context:/ }).click();
  for (const tokens of [30_000, 20_000]) {
    await panel.post({ type: "usage", conversationId: "c1", usage: { ...USAGE, tokens, breakdown: BREAKDOWN } });
    const counts = (await panel.page.locator(".usage-count").allTextContents()).map((text) => Number(text.replaceAll(",", "").replace("−", "-")));
    const total = counts.pop();
    assert.equal(total, tokens);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), tokens);
  }
});

inBrowser("what another page or the host writes into the draft is shown without taking the focus, and not sent back", {}, async (panel) => {
  await panel.post(RUNNING, shown([]), { type: "draft", conversationId: "c1", text: "written in a tab" });
  const input = panel.page.getByRole("textbox", { name: "Message" });
  assert.equal(await input.inputValue(), "written in a tab");
  assert.ok(await input.evaluate((element) => element !== document.activeElement));
  await panel.post({ type: "draft", conversationId: "c1", text: "" });
  assert.equal(await input.inputValue(), "");
  assert.deepEqual((await panel.posted()).filter(({ type }) => type === "draft"), []);
});

inBrowser("the page keeps which conversation it shows, and reports its focus", {}, async (panel) => {
  const state = () => panel.page.evaluate(() => (globalThis as unknown as { state: unknown }).state);
  await panel.post(RUNNING, shown([]));
  assert.deepEqual(await state(), { conversationId: "c1" });
  await panel.post(shown([], { conversation: null }));
  assert.deepEqual(await state(), { conversationId: undefined });
  const before = (await panel.posted()).filter(({ type }) => type === "focused").length;
  await panel.page.evaluate(() => dispatchEvent(new FocusEvent("focus")));
  assert.equal((await panel.posted()).filter(({ type }) => type === "focused").length, before + 1);
});

inBrowser("with prices the turn shows its cost, and the details that of the conversation", {}, async (panel) => {
  const spent = { requests: 1, input: 10_000, output: 310, cacheRead: 8800, cacheWrite: 0, milliseconds: 0, firstTokenMilliseconds: 0 };
  const sums = { turn: spent, conversation: { ...spent, input: 1_008_800 }, compactions: { ...spent, input: 0, output: 0, cacheRead: 0 }, whole: { ...spent, input: 2_008_800 }, unused: { ...spent, input: 0, output: 0, cacheRead: 0 } };
  const dear = { turn: { ...spent, input: 0, output: 0, cacheRead: 0 }, conversation: { ...spent, input: 0, output: 1000, cacheRead: 0 }, compactions: { ...spent, input: 0, output: 0, cacheRead: 0 }, whole: { ...spent, input: 0, output: 1000, cacheRead: 0 }, unused: { ...spent, input: 0, output: 0, cacheRead: 0 } };
  const usage = { ...USAGE, breakdown: BREAKDOWN, spent: { ...sums, models: [{ model: "usual", ...sums }, { model: "dear", ...dear }] } };
  await panel.post(RUNNING, shown([user("Why?"), assistant("So.")], { usage }));
  const figures = panel.page.getByTestId("turn-figures");
  await panel.page.getByRole("button", { name: /^Context:/ }).click();
  const details = panel.page.getByRole("region", { name: "Context" });
  assert.doesNotMatch(await figures.innerText() + await details.innerText(), /\$/);
  await panel.post({ type: "preferences", enterSends: true, prices: { input: 3, cachedInput: 0.5, output: 10, currency: "$" } });
  assert.match(await figures.innerText(), /· \$0\.01$/);
  assert.match(await details.innerText(), /last turn \$0\.01, of the conversation \$3\.02, of its compactions \$0\.00; with all branches and unused summaries \$6\.02\./);
  // An earlier model has prices of its own, and the usual one none.
  await panel.post({ type: "preferences", enterSends: true }, { type: "model", models: [{ id: "Dear", name: "dear", prices: { input: 0, cachedInput: 0, output: 1000, currency: "€" } }] });
  assert.doesNotMatch(await figures.innerText(), /[$€]/);
  assert.match(await details.innerText(), /last turn not known, of the conversation at least €1\.00, of its compactions €0\.00; with all branches and unused summaries at least €1\.00\./);
});

inBrowser("a compaction in the background keeps nobody from writing, and its summary is taken outside of turns", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK.slice(1, 3), { running: true }), { type: "background", conversationId: "c1", status: "writing" });
  const line = panel.page.getByTestId("background");
  assert.match(await line.innerText(), /Compacting in the background/);
  assert.ok(await line.getByRole("button", { name: "Compact Now" }).isDisabled());
  await panel.post({ type: "turn", conversationId: "c1", running: false }, { type: "background", conversationId: "c1", status: "ready" });
  assert.match(await line.innerText(), /is ready/);
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("And now?");
  await input.press("Enter");
  await line.getByRole("button", { name: "Compact Now" }).click();
  assert.deepEqual((await panel.asked()).map(({ type }) => type), ["ready", "send", "compact"]);
  await panel.post({ type: "background", conversationId: "c1" });
  assert.equal(await line.count(), 0);
});
