import { equal, match, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { unfold } from "./harness/chat.ts";
import { CENTS_TURN, FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";
import { until } from "./harness/waiting.ts";

const HOSTILE = [
  '<img src="/pixel.png" onerror="document.title = \'run\'">',
  "<script>document.title = 'run'</script>",
  "<iframe srcdoc=\"<script>parent.document.title = 'run'</script>\"></iframe>",
  "![](http://127.0.0.1:9/pixel.png)",
  "[here](javascript:document.title='run') and [there](command:workbench.action.terminal.new)",
  "```html\n<b onmouseover=\"document.title = 'run'\">x</b>\n```",
].join("\n\n");

const IN_CHAT = { files: { ...FILES, "page.html": HOSTILE }, tools: "ask" } as const;

scene("a turn streams, shows Markdown, and folds the tools it used", IN_CHAT, async ({ editor, window, provider }) => {
  const chat = await window.openCoppice();
  for (const answer of CENTS_TURN.answers) provider.turn({ ...answer, waits: answer === CENTS_TURN.answers.at(-1) });
  await chat.send(CENTS_TURN.asks);
  for (const tool of ["read_file", "write_file"]) await chat.allow(`Use ${tool}`);

  await chat.draft.filter({ hasText: "Prices are integer" }).waitFor();
  ok(await chat.stop.isVisible());
  ok(!(await chat.draft.innerText()).includes("Shall I change"));

  provider.release();
  const reply = chat.replies.filter({ hasText: "Shall I change the API next?" });
  await reply.waitFor();
  await chat.rests();
  equal(await reply.locator("strong").innerText(), "integer cents");
  match(await reply.locator("pre code").innerText(), /^def total\(items/);
  equal(await reply.locator("li").count(), 2);

  equal(await chat.tools.count(), 3);
  const read = chat.tools.first();
  equal(await read.getByText("class Item").count(), 0);
  await unfold(read);
  await read.getByText("class Item").waitFor();
  match(readFileSync(join(editor.workspace, "src/prices.py"), "utf8"), /price_cents: int/);
  const offered = provider.asked[0]?.tools?.map((tool) => tool.function.name) ?? [];
  ok(offered.includes("read_file"));
  await window.screenshot("chat");
});

scene("a turn can be stopped, and the next one goes on from there", IN_CHAT, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  provider.turn({ hangs: true });
  await chat.send("Take your time.");
  await until("the model is asked", () => provider.asked.length === 1);
  await chat.stop.click();
  await chat.rests();

  await chat.play(provider, { asks: "Are you there?", answers: [{ text: "I am." }] });
  equal(await chat.asked.count(), 2);
});

scene("markup in a message is text", IN_CHAT, async ({ window, provider }) => {
  const fetched: string[] = [];
  window.page.on("request", (request) => fetched.push(request.url()));
  const chat = await window.openCoppice();
  provider.turn({ text: HOSTILE, calls: [["call-1", "read_file", { path: "page.html" }]] });
  provider.turn({ text: `Read.\n\n${HOSTILE}` });
  await chat.send(HOSTILE);
  await chat.allow("Use read_file");
  await chat.replies.filter({ hasText: "Read." }).waitFor();
  await chat.rests();
  await unfold(chat.tools.first());

  for (const element of ["img", "script:not([nonce])", "iframe", "a[href^='javascript:']", "a[href^='command:']"]) {
    equal(await chat.frame.locator(`body ${element}`).count(), 0, element);
  }
  equal(await chat.frame.locator("html").evaluate((html) => html.ownerDocument.title), "Coppice Chat");
  await chat.replies.last().getByText("<script>document.title").waitFor();
  ok(!fetched.some((url) => url.includes("pixel.png")));
});
