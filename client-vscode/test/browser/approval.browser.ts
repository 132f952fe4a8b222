/** A tool that waits for approval: the card in the chat. */
import assert from "node:assert/strict";

import { inBrowser } from "./panel";
import { COMMAND, CONVERSATION, EDIT, PLAN, RUNNING, shown, TALK } from "./samples";

inBrowser("a question comes in sight, is announced, and leaves the focus where it is", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }));
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.fill("draft");
  await panel.post({ type: "approvals", approvals: [EDIT] });
  assert.ok(await input.evaluate((element) => element === document.activeElement));
  await panel.page.keyboard.press("Enter");
  assert.deepEqual(await panel.asked(), [{ type: "ready" }, { type: "send", text: "draft" }]);
  assert.equal(await panel.page.getByRole("alert").textContent(), "Approval needed: Edit src/importer/lines.py.");
  await panel.page.getByRole("button", { name: "Allow", exact: true }).waitFor();
  const box = await panel.page.getByTestId("approval").boundingBox();
  assert.ok(box !== null && box.y < 700);
  assert.ok(await panel.page.getByText("+        yield rest  # the last line has no newline").isVisible());
});

inBrowser("the keyboard alone answers: deny with a word, allow for the conversation, allow", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }));
  const { keyboard } = panel.page;
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await input.focus();
  const word = "use a set";
  const answers = [
    ["Deny", ["Shift+Tab", "Shift+Tab", word, "Tab"], "Enter"],
    ["Allow for This Conversation", ["Shift+Tab", "Shift+Tab", "Shift+Tab"], "Enter"],
    ["Allow", ["Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab"], "Space"],
  ] as const;
  for (const [name, way, answer] of answers) {
    await panel.post({ type: "approvals", approvals: [EDIT] });
    assert.ok(await input.evaluate((element) => element === document.activeElement));
    for (const step of way) await (step === word ? keyboard.type(step) : keyboard.press(step));
    await panel.page.getByRole("button", { name, exact: true }).evaluate((element) => { if (element !== document.activeElement) throw new Error("not focused"); });
    await keyboard.press(answer);
    await panel.post({ type: "approvals", approvals: [] });
  }
  assert.deepEqual((await panel.asked()).slice(1), [
    { type: "decide", id: "approval-1", decision: { kind: "deny", message: word } },
    { type: "decide", id: "approval-1", decision: { kind: "allowConversation" } },
    { type: "decide", id: "approval-1", decision: { kind: "allow" } },
  ]);
});

inBrowser("an edit is opened to be changed while it waits, and not once its turn has ended", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [EDIT] });
  const change = panel.page.getByRole("button", { name: "Change the Edit…" });
  await change.click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "openEdit", id: EDIT.id });
  await panel.post({ type: "approvals", approvals: [{ ...EDIT, interrupted: true }] });
  await panel.page.getByText("The turn ended before this was answered.").waitFor();
  assert.equal(await change.count(), 0);
});

inBrowser("the command is in sight however long the other arguments are, with what would not show", { height: 900 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [COMMAND] });
  const command = panel.page.getByRole("region", { name: "Command" });
  assert.equal(await command.innerText(), "pytest -q tests/test_lines.py <U+202E>&& rm -rf .<U+001B>[2K");
  await command.scrollIntoViewIfNeeded();
  assert.ok(await command.isVisible());
  const explanation = panel.page.getByRole("region", { name: "explanation" });
  assert.equal((await explanation.innerText()).length, "An explanation that is very long. ".repeat(200).length);
  assert.ok(((await explanation.boundingBox())?.height ?? 9999) <= 361);
});

inBrowser("a command whose end is out of sight has a sign, which leads there", { height: 900 }, async (panel) => {
  const command = { ...COMMAND, details: [{ kind: "command" as const, command: `git status${"\n".repeat(200)}rm -rf "$HOME"` }] };
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [command] });
  const sign = panel.page.getByTestId("approval").getByRole("button", { name: /The end is not in sight/ });
  await sign.waitFor();
  await sign.click();
  await sign.waitFor({ state: "detached" });
  const box = panel.page.getByRole("region", { name: "Command" });
  assert.ok(await box.evaluate((element) => element.scrollTop + element.clientHeight > element.scrollHeight - 2));
  await panel.post({ type: "approvals", approvals: [] });
  await panel.post({ type: "approvals", approvals: [{ ...COMMAND, details: [{ kind: "command", command: "git status" }] }] });
  await panel.page.getByTestId("approval").waitFor();
  assert.equal(await sign.count(), 0);
});

inBrowser("characters that show nothing are codes in a question, in its title and its reason, too", {}, async (panel) => {
  const hidden = "\u00ad\u034f\u115f\u17b4\u180e\u200c\u200d\u206a\u3164\ufe0f\uffa0\ufff9\u{e0041}\ufff0\u{1bca0}\u{1d173}\u{e01f0}\u{200b}\u{202e}\u{2066}\u{feff}";
  const codes = Array.from(hidden).map((character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`).join("");
  const command = { ...COMMAND, title: `Run${hidden}`, reason: `Could hide${hidden}`, details: [{ kind: "command" as const, command: `ls${hidden}` }] };
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [command] });
  assert.equal(await panel.page.getByRole("region", { name: "Command" }).innerText(), `ls${codes}`);
  assert.ok(await panel.page.getByText(`Could hide${codes}`).isVisible());
  assert.match(await panel.page.getByTestId("approval").getByRole("heading").innerText(), new RegExp(`Run${codes.replaceAll("+", "\\+")}`));
});

inBrowser("a question of another conversation is not shown here, and one of an ended turn offers no lasting permission", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK), { type: "approvals", approvals: [{ ...EDIT, conversationId: "c2" }, { ...COMMAND, interrupted: true }] });
  assert.equal(await panel.page.getByTestId("approval").count(), 1);
  assert.equal(await panel.page.getByRole("button", { name: "Allow for This Conversation" }).count(), 0);
  assert.equal(await panel.page.getByRole("alert").textContent(), "");
});

inBrowser("a notice appears for a reader who has scrolled up when a request waits", {}, async (panel) => {
  await panel.post(RUNNING, shown([...TALK, ...TALK, ...TALK], { running: true }));
  await panel.page.locator(".log-scroll").hover();
  await panel.page.mouse.wheel(0, -900);
  await panel.page.getByRole("button", { name: "Scroll to the End" }).waitFor();
  await panel.post({ type: "approvals", approvals: [EDIT] });
  const notice = panel.page.getByRole("button", { name: "Waiting for Approval" });
  await notice.click();
  await notice.waitFor({ state: "hidden" });
});

inBrowser("what a card proposes is allowed from now on where the button says, and an interrupted question proposes nothing", {}, async (panel) => {
  for (const [label, reach] of [["In This Conversation", "conversation"], ["In This Workspace", "workspace"], ["Always", "always"]] as const) {
    await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [{ ...COMMAND, reaches: ["conversation", "workspace", "always"] }] });
    const group = panel.page.getByRole("group", { name: "Allow run_command `pytest tests …` in . from now on" });
    await group.getByRole("button", { name: label }).click();
    assert.deepEqual((await panel.asked()).at(-1), { type: "decide", id: COMMAND.id, decision: { kind: "allowRule", reach } });
  }
  await panel.post({ type: "approvals", approvals: [COMMAND] });
  await panel.page.getByRole("button", { name: "In This Workspace" }).waitFor();
  await panel.page.getByRole("button", { name: "Always" }).waitFor({ state: "detached" });
  await panel.page.getByRole("button", { name: "Permissions…" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.editPermissions" });
  await panel.post({ type: "approvals", approvals: [{ ...COMMAND, interrupted: true }, { ...EDIT, proposal: undefined }] });
  assert.equal(await panel.page.getByText("From now on").count(), 0);
});

inBrowser("the button that leads to a question out of sight is high enough to press", { height: 400 }, async (panel) => {
  await panel.post(RUNNING, shown([...TALK, ...TALK.map((each) => ({ ...each, id: `${each.id}-again` }))], { running: true }));
  await panel.page.locator(".log-scroll").hover();
  await panel.page.mouse.wheel(0, -900);
  await panel.post({ type: "approvals", approvals: [EDIT] });
  const box = await panel.page.getByRole("button", { name: "Waiting for Approval" }).boundingBox();
  assert.ok(box !== null && box.height >= 24, JSON.stringify(box));
});

inBrowser("a plan is read as Markdown, opened as a document, and approved in a mode", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [PLAN] });
  const card = panel.page.getByTestId("approval");
  await card.getByRole("heading", { name: "Keep the last line" }).waitFor();
  await card.getByRole("button", { name: "Change the Plan…" }).click();
  await card.getByRole("button", { name: "Approve and Accept Edits" }).click();
  assert.deepEqual((await panel.asked()).slice(1), [
    { type: "openPlan", id: "approval-3" },
    { type: "decide", id: "approval-3", decision: { kind: "allowPlan", mode: "acceptEdits" } },
  ]);
});

inBrowser("the mode is chosen with the keyboard, and shown for each conversation", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK), { type: "modes", modes: { c1: "plan", other: "acceptEdits" } });
  const mode = panel.page.getByRole("combobox", { name: "Mode" });
  assert.equal(await mode.inputValue(), "plan");
  await mode.focus();
  await panel.page.keyboard.press("ArrowUp");
  assert.deepEqual((await panel.asked()).slice(1), [{ type: "setMode", mode: "acceptEdits" }]);
  await panel.post({ type: "shown", conversation: null, entries: [], running: false });
  assert.equal(await mode.inputValue(), "ask");
});

inBrowser("keys answer the oldest question of the shown conversation, once it could be read", {}, async (panel) => {
  const elsewhere = { ...COMMAND, id: "elsewhere", conversationId: "other" };
  const setTime = (milliseconds: number): Promise<void> => panel.page.evaluate((time) => { Date.now = () => time; }, milliseconds);
  await setTime(10_000);
  await panel.post(RUNNING, shown(TALK, { running: true }), { type: "approvals", approvals: [elsewhere, EDIT, COMMAND] });
  await setTime(10_499);
  await panel.post({ type: "answerApproval", decision: "allow" });
  assert.deepEqual((await panel.asked()).slice(1), []);
  await setTime(10_500);
  await panel.post({ type: "answerApproval", decision: "allow" }, { type: "approvals", approvals: [elsewhere, COMMAND] });
  await panel.post({ type: "answerApproval", decision: "deny" });
  assert.deepEqual((await panel.asked()).slice(1), [
    { type: "decide", id: "approval-1", decision: { kind: "allow" } },
    { type: "decide", id: "approval-2", decision: { kind: "deny" } },
  ]);
  await panel.page.getByTestId("other-waits").getByRole("button", { name: "Go There" }).click();
  assert.deepEqual((await panel.asked()).at(-1), { type: "run", command: "coppice.showApproval" });
});

inBrowser("the list of conversations marks those that wait and those that run", {}, async (panel) => {
  const named = (id: string, name: string) => ({ ...CONVERSATION, id, name });
  await panel.post(RUNNING, shown(TALK), { type: "conversations", conversations: [CONVERSATION, named("a", "Asks"), named("b", "Works"), named("d", "Rests")] },
    { type: "approvals", approvals: [{ ...COMMAND, conversationId: "a" }] }, { type: "running", conversationIds: ["a", "b"] });
  await panel.page.getByTestId("conversation-picker").click();
  const options = await panel.page.getByRole("listbox", { name: "Conversations" }).getByRole("option").allTextContents();
  assert.deepEqual(options.slice(2).map((text) => text.split(" ").slice(0, -3).join(" ").trim()), ["Waits for approval: Asks", "Running: Works", "Rests"]);
});
