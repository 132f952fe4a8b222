/** Code in messages: its colours, and what can be done with it. */
import assert from "node:assert/strict";

import { inBrowser, THEMES } from "./panel";
import { assistant, RUNNING, shown, user } from "./samples";

const CODE = "```python\ndef total(items: list[int]) -> int:\n    # <b>not markup</b>\n    return sum(items) + 1  # \"one\"\n```";

for (const theme of THEMES) {
  inBrowser(`code is coloured from the theme, and stays text, ${theme}`, { theme }, async (panel) => {
    await panel.post(RUNNING, shown([user("Sum?"), assistant(CODE)]));
    const code = panel.page.locator("pre code");
    assert.equal(await code.innerText(), 'def total(items: list[int]) -> int:\n    # <b>not markup</b>\n    return sum(items) + 1  # "one"');
    const color = (selector: string) => code.locator(selector).first().evaluate((element) => getComputedStyle(element).color);
    assert.notEqual(await color(".hljs-keyword"), await color(".hljs-number"));
    assert.deepEqual(panel.complaints, []);
  });
}

inBrowser("code goes to the cursor or to a file, and a reply is copied, with the keyboard too", {}, async (panel) => {
  await panel.post(RUNNING, shown([user("Sum?"), assistant("Here.\n\n```js\n1 + 1\n```")]));
  await panel.page.getByRole("button", { name: "Insert at Cursor" }).press("Enter");
  await panel.page.getByRole("button", { name: "Apply to File…" }).press("Enter");
  await panel.page.getByRole("button", { name: "Copy Reply" }).press("Enter");
  assert.deepEqual((await panel.asked()).slice(1), [
    { type: "applyCode", text: "1 + 1\n", language: "js", action: "insert" },
    { type: "applyCode", text: "1 + 1\n", language: "js", action: "apply" },
    { type: "copy", text: "Here.\n\n```js\n1 + 1\n```" },
  ]);
});
