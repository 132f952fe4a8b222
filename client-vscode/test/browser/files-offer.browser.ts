/** What becomes of the files when a conversation goes to another branch: the card in the chat. */
import assert from "node:assert/strict";

import type { FilesOffer } from "../../src/chat/messages";
import { inBrowser } from "./panel";
import { RUNNING, shown, TALK } from "./samples";

const OFFER: FilesOffer = {
  id: "offer-1",
  kind: "branch",
  files: [{ path: "a\u202eb.py", fate: "written", added: 1, removed: 2, isControl: false }, { path: ".vscode/tasks.json", fate: "written", added: 3, isControl: true }, { path: "kept.py", fate: "conflict", isControl: true }],
  more: 0,
};

inBrowser("the offer names its files, is answered with the keyboard, and leaves when it is", {}, async (panel) => {
  const input = panel.page.getByRole("textbox", { name: "Message" });
  await panel.post(RUNNING, shown(TALK));
  await input.focus();
  await panel.post({ type: "filesOffer", conversationId: "c1", offer: OFFER });
  assert.ok(await input.evaluate((element) => element === document.activeElement));
  const card = panel.page.getByTestId("files-offer");
  assert.match(await card.innerText(), /3 files differ there[^]*a<U\+202E>b\.py \+1 −2\s+\.vscode\/tasks\.json \+3[^]*can make programs run[^]*kept\.py stays/);
  await card.getByRole("button", { name: "Conversation Only" }).press("Enter");
  await card.getByRole("checkbox").check();
  assert.ok(await card.getByRole("button", { name: "Files Only" }).isDisabled());
  await card.getByRole("button", { name: "Conversation and Files" }).press("Enter");
  await card.getByRole("checkbox").uncheck();
  await card.getByRole("button", { name: "Files Only" }).press("Enter");
  await card.getByRole("button", { name: "Cancel" }).press("Enter");
  assert.deepEqual((await panel.asked()).filter(({ type }) => type === "answerFiles"), [
    { type: "answerFiles", id: "offer-1", choice: "conversation", always: false },
    { type: "answerFiles", id: "offer-1", choice: "both", always: true },
    { type: "answerFiles", id: "offer-1", choice: "files", always: false },
    { type: "answerFiles", id: "offer-1", choice: "cancel", always: false },
  ]);
  await panel.post({ type: "filesOffer", conversationId: "c1" });
  assert.equal(await card.count(), 0);
});

inBrowser("a change that the window's end cut off is finished, undone, given up, or folded until later", {}, async (panel) => {
  const offer: FilesOffer = { id: "offer-2", kind: "unfinished", files: [], more: 0, ends: { finish: "Try cents", undo: "" } };
  await panel.post(RUNNING, shown(TALK), { type: "filesOffer", conversationId: "c1", offer });
  const card = panel.page.getByTestId("files-offer");
  assert.match(await card.innerText(), /Finish leads to “Try cents” with its files, Undo to before the first message/);
  for (const name of ["Finish", "Undo", "Leave Files", "Later"]) await card.getByRole("button", { name, exact: true }).press("Enter");
  assert.deepEqual((await panel.asked()).flatMap((message) => (message.type === "answerFiles" ? [message.choice] : [])), ["finish", "undo", "leave"]);
  assert.equal(await card.count(), 0);
  await panel.page.waitForFunction(() => document.activeElement?.matches("[data-testid=message-input]") === true);
  await panel.page.getByRole("button", { name: "A change of files was cut off" }).press("Enter");
  assert.equal(await card.getByRole("checkbox").count() + await card.getByRole("list").count(), 0);
  await card.getByRole("button", { name: "Later" }).press("Enter");
  await panel.post({ type: "filesOffer", conversationId: "c1", offer: { ...offer, id: "offer-3" } });
  await card.waitFor();
});

inBrowser("a question that the window's end left open is read, and says that nothing was changed", {}, async (panel) => {
  await panel.post(RUNNING, shown(TALK), { type: "filesOffer", conversationId: "c1", offer: { id: "offer-3", kind: "unanswered", files: [], more: 0 } });
  const card = panel.page.getByTestId("files-offer");
  assert.match(await card.innerText(), /The window ended before you decided[^]*No file was changed[^]*OK$/);
  await card.getByRole("button").press("Enter");
  assert.deepEqual((await panel.asked()).at(-1), { type: "answerFiles", id: "offer-3", choice: "cancel", always: false });
});
