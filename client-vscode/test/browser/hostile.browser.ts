/** Messages that try to become more than text. */
import assert from "node:assert/strict";

import type { Entry } from "../../src/protocol.gen";
import { inBrowser } from "./panel";
import { assistant, BREAKDOWN, call, COMPACTION, entry, result, RUNNING, shown, user } from "./samples";

const RUN = "globalThis.ran=1";

const HOSTILE: readonly string[] = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<IMG SRC=x OnErRoR=${RUN}>`,
  `<svg onload="${RUN}"><animate onbegin="${RUN}" attributeName=x></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
  `<iframe src="javascript:parent.ran=1"></iframe>`,
  `<object data="data:text/html,<script>${RUN}</script>"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<math><mtext><img src=x onerror=${RUN}></mtext></math>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<video autoplay oncanplay="${RUN}"><source src=x onerror="${RUN}"></video>`,
  `<style>* { display: none } body { background: url(http://evil.test/a) }</style>`,
  `<link rel="stylesheet" href="http://evil.test/a.css">`,
  `<base href="http://evil.test/">`,
  `<meta http-equiv="refresh" content="0;url=http://evil.test/">`,
  `<form action="http://evil.test/"><input name=q autofocus onfocus="${RUN}"></form>`,
  `<a href="javascript:${RUN}">a</a>`,
  `[a](javascript:${RUN})`,
  `[a](JaVaScRiPt:${RUN})`,
  `[a](java\tscript:${RUN})`,
  `[a](&#106;avascript:${RUN})`,
  `[a](javascript&colon;${RUN})`,
  `[a]( javascript:${RUN})`,
  `[a](<javascript:${RUN}>)`,
  `[a](vbscript:${RUN})`,
  `[a](data:text/html;base64,PHNjcmlwdD5wYXJlbnQucmFuPTE8L3NjcmlwdD4=)`,
  `[a](command:workbench.action.terminal.new)`,
  `[a](vscode://file/etc/passwd)`,
  `[a](//evil.test/x)`,
  `<javascript:${RUN}>`,
  `[a][b]\n\n[b]: javascript:${RUN}`,
  `![a](http://evil.test/pixel.png)`,
  `![a](x" onerror="${RUN})`,
  `![a](data:image/svg+xml,<svg onload=${RUN}>)`,
  `[a](x "t\\" onclick=\\"${RUN}")`,
  `\`\`\`js" onclick="${RUN}\ncode\n\`\`\``,
  `\`\`\`html\n</code></pre><script>${RUN}</script>\n\`\`\``,
  `| <img src=x onerror=${RUN}> |\n|---|\n| <script>${RUN}</script> |`,
  `# <img src=x onerror=${RUN}>`,
  `- [x] <img src=x onerror=${RUN}>`,
  `<p style="position:fixed;inset:0;background:red">over everything</p>`,
  `<div id="root"></div><div class="composer"></div>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<template><script>${RUN}</script></template>`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<x-element onclick="${RUN}" tabindex=0 autofocus onfocus="${RUN}">`,
  `{{constructor.constructor('${RUN}')()}} \${${RUN}}`,
  `<read-files><img src=x onerror=${RUN}></read-files>`,
  "\u202e<script>\u2066 reversed",
];

/** The text in every place where a conversation's text can appear. */
function everywhere(text: string): Entry[] {
  const base = { parentId: null, timestamp: "" };
  return [
    user(text),
    assistant(text, { type: "thinking", thinking: text }, call("t", text, { path: text, [text]: text })),
    result("t", text, text, true),
    entry({ role: "assistant", content: [], stopReason: "error", errorMessage: text }),
    entry({ role: "bashExecution", command: text, output: text, exitCode: 1, cancelled: false, truncated: false }),
    entry({ role: "user", content: [{ type: "image", mimeType: text, data: text }, { type: "image", mimeType: "image/png", data: `"><script>${RUN}</script>` }] }),
    entry({ role: "system", content: text }),
    { ...base, id: "c", type: "custom_message", customType: text, content: text, display: true },
    { ...base, id: "m", type: "model_change", provider: text, modelId: text },
    { ...base, id: "b", type: "branch_summary", summary: text, fromId: "x", details: { readFiles: [text], modifiedFiles: [text] } },
    { ...COMPACTION, summary: text, details: { summarizer: text, readFiles: [text], modifiedFiles: [text] } } as Entry,
  ];
}

const FOREIGN = "script:not([src='/webview.js']), style, iframe, object, embed, svg, math, form:not(.composer), base, link:not([href='/webview.css']), video, details, template, meta[http-equiv=refresh], x-element, #root #root, img:not([src^='data:image/png;base64,'])";

inBrowser("hostile texts stay text", { height: 3000 }, async (panel) => {
  const { page } = panel;
  for (const text of HOSTILE) {
    await page.reload();
    await panel.post(
      RUNNING,
      shown(everywhere(text)),
      { type: "update", conversationId: "c1", update: { kind: "text", text: `${text}\n\n${text}` } },
      { type: "notice", level: "error", text },
      { type: "compacted", entryId: "compaction-1", warnings: [text], report: { dropped: { entries: 1, tokens: 1, byKind: BREAKDOWN }, files: [], unsupported: [{ kind: "path", text: text, statement: "In it.", shown: "" }] } },
    );
    // Opens what is folded, and what is folded in that.
    for (let round = 0; round < 2; round += 1) {
      await page.evaluate(() => { for (const head of document.querySelectorAll<HTMLElement>("[aria-expanded=false].fold-head")) head.click(); });
      await panel.settle();
    }
    const result = await page.evaluate((foreign) => {
      const body = document.body;
      for (const link of body.querySelectorAll<HTMLElement>("a")) link.click();
      return {
        ran: "ran" in globalThis,
        // VS Code's own styles are set before the page's; the first is the test's theme.
        foreign: [...body.querySelectorAll(foreign)].map((element) => element.outerHTML.slice(0, 200)),
        handlers: [...body.querySelectorAll("*")].flatMap((element) => element.getAttributeNames().filter((name) => name.startsWith("on") || name === "srcdoc")),
        links: [...body.querySelectorAll("a")].map((link) => link.getAttribute("href")),
        stillThere: body.querySelectorAll("textarea").length,
      };
    }, FOREIGN);
    assert.deepEqual({ ...result, links: [], text }, { ran: false, foreign: [], handlers: [], links: [], stillThere: 1, text });
    for (const link of result.links) assert.match(link ?? "", /^(#$|https?:\/\/)/);
    for (const message of await panel.posted()) {
      if (message.type === "openLink") assert.doesNotMatch(message.href, /^\s*(javascript|vbscript|data|command|vscode):/i);
    }
    // A picture whose data is none is the only thing that may go wrong.
    assert.deepEqual(panel.complaints.filter((complaint) => !complaint.includes("ERR_INVALID_URL")), []);
    assert.equal(page.url(), "http://panel.test/");
  }
});

const GREAT: Record<string, Parameters<typeof assistant>> = {
  "small blocks of code": ["```\na\n```\n".repeat(5000)],
  "a wide table": [`${"|a".repeat(300)}|\n${"|-".repeat(300)}|\n${"a\n".repeat(500)}`],
  "many texts of few elements": Array.from({ length: 10 }, () => ["Words.\n\n".repeat(1000), call("t", "read", {})]).flat(),
  "many texts": Array.from({ length: 10 }, () => ["Words.\n\n".repeat(3000), call("t", "read", {})]).flat(),
};
for (const [what, blocks] of Object.entries(GREAT)) {
  inBrowser(`a reply that would become more elements than a page can show is shown as it is: ${what}`, {}, async (panel) => {
    await panel.post(RUNNING, shown([user("Go"), assistant(...blocks)]));
    await panel.page.getByTestId("assistant").waitFor();
    assert.ok((await panel.page.locator("*").count()) < 2000);
  });
}

inBrowser("the policy refuses what would get past us", {}, async ({ page, complaints }) => {
  const outcome = await page.evaluate(async () => {
    const attempt = async (act: () => unknown): Promise<string> => {
      try {
        await act();
        return "done";
      } catch (error) {
        return (error as Error).name;
      }
    };
    const host = document.createElement("div");
    const script = document.createElement("script");
    return {
      html: await attempt(() => { host.innerHTML = "<b>x</b>"; }),
      script: await attempt(() => { script.text = "1"; }),
      fetch: await attempt(() => fetch("http://evil.test/")),
    };
  });
  assert.deepEqual(outcome, { html: "TypeError", script: "TypeError", fetch: "TypeError" });
  assert.deepEqual(complaints.filter((complaint) => complaint.startsWith("asked for")), []);
});
