/** What the last turn has changed, at the end of the conversation. */
import assert from "node:assert/strict";

import type { TurnFiles } from "../../src/chat/messages";
import { inBrowser } from "./panel";
import { assistant, RUNNING, shown, user } from "./samples";

inBrowser("the changed files of the last turn are listed until somebody decides, and not with another turn", {}, async (panel) => {
  const asked = user("Keep the last line.");
  const turn: TurnFiles = { entryId: asked.id, more: 2, files: [{ path: "a\u202eb.py", added: 12, removed: 4 }, { path: "new.py", added: 3, removed: 0 }] };
  await panel.post(RUNNING, shown([asked, assistant("Kept.")]), { type: "turnFiles", conversationId: "c1", turn });
  const card = panel.page.getByTestId("turn-files");
  assert.match(await card.innerText(), /4 changed files\s+a<U\+202E>b\.py \+12 −4\s+new\.py \+3\s+and 2 more files/);
  for (const name of ["Review", "Undo All", "Keep All"]) await card.getByRole("button", { name }).click();
  assert.deepEqual((await panel.asked()).filter(({ type }) => type === "reviewTurn"), ["review", "undo", "keep"].map((action) => ({ type: "reviewTurn", entryId: asked.id, action })));
  await panel.post({ type: "turn", conversationId: "c1", running: true });
  assert.equal(await card.count(), 0);
  await panel.post({ type: "turn", conversationId: "c1", running: false });
  assert.equal(await card.count(), 1);
  await panel.post({ type: "grown", conversationId: "c1", entries: [user("And now?"), assistant("Nothing.")] });
  assert.equal(await card.count(), 0);
  await panel.post(shown([asked, assistant("Kept.")]));
  assert.equal(await card.count(), 1);
  await panel.post({ type: "turnFiles", conversationId: "c1" });
  assert.equal(await card.count(), 0);
});
