/** Pictures of the panel for whoever changes it to look at: dist/pictures. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";

import type { ToPage } from "../../src/chat/messages";
import { inBrowser, type PanelPage, THEMES } from "./panel";
import { BREAKDOWN, COMMAND, CONVERSATION, EDIT, RUNNING, shown, TALK, USAGE } from "./samples";

const FOLDER = "dist/pictures";
mkdirSync(FOLDER, { recursive: true });

async function picture(panel: PanelPage, name: string): Promise<void> {
  await panel.page.evaluate(() => document.fonts.ready);
  await panel.page.screenshot({ path: `${FOLDER}/${name}.png`, animations: "disabled" });
  assert.deepEqual(panel.complaints, []);
}

for (const theme of THEMES) {
  inBrowser(`picture: a conversation, ${theme}`, { theme, width: 360, height: 1500 }, async (panel) => {
    await panel.post(RUNNING, shown(TALK));
    await picture(panel, `conversation-${theme}`);
  });

  inBrowser(`picture: cards and details opened, ${theme}`, { theme, width: 360, height: 1700 }, async (panel) => {
    await panel.post(
      RUNNING,
      shown(TALK),
      { type: "compacted", entryId: "compaction-1", warnings: ["The model's summary had no goal; rules added it."], report: { dropped: { entries: 57, tokens: 118_830, byKind: BREAKDOWN }, files: [], notCarried: ["0x3fe1"] } },
      { type: "usage", conversationId: "c1", usage: { ...USAGE, tokens: 190_000, shouldCompact: true, breakdown: BREAKDOWN } },
    );
    await panel.page.getByTestId("compaction").getByRole("button").first().click();
    await panel.page.getByRole("button", { name: "Read: 2 files" }).click();
    await panel.page.getByRole("button", { name: /^Tool bash/ }).click();
    await panel.page.getByRole("button", { name: "Thinking" }).click();
    await panel.page.getByRole("button", { name: /^Context:/ }).click();
    await picture(panel, `opened-${theme}`);
  });

  for (const width of [170, 900]) {
    inBrowser(`picture: approvals, ${theme}, ${width} pixels`, { theme, width, height: 900 }, async (panel) => {
      await panel.post(RUNNING, shown(TALK.slice(1, 2), { running: true }), { type: "approvals", approvals: [EDIT, { ...COMMAND, details: COMMAND.details.slice(1) }] });
      await picture(panel, `approvals-${theme}-${width}`);
    });
  }

  for (const width of [170, 900]) {
    inBrowser(`picture: marks, a menu and sections, ${theme}, ${width} pixels`, { theme, width, height: 1000 }, async (panel) => {
      const asked = TALK[1]?.id ?? "";
      await panel.post(RUNNING, shown(TALK.slice(0, 3), {
        outline: {
          leafId: null,
          length: 40,
          compactions: [{ entryId: "older", depth: 8 }, { entryId: "compaction-1", depth: 30, firstKeptEntryId: asked }],
          marks: [{ entryId: asked, label: "before the rewrite", pinned: true }],
          forks: [{ entryId: asked, alternatives: ["x", asked, "y"] }],
        },
      }));
      await panel.page.getByTestId("compaction").getByRole("button").first().click();
      await panel.page.getByTestId("user").first().getByRole("button", { name: "More Actions" }).press("Enter");
      await picture(panel, `marks-${theme}-${width}`);
    });
  }

  inBrowser(`picture: a turn that runs, ${theme}`, { theme, width: 280, height: 640 }, async (panel) => {
    await panel.post(
      RUNNING,
      shown(TALK.slice(1, 2), { running: true, work: { title: "Compacting", stage: "Summarizing", percentage: 40, cancellable: true } }),
      { type: "update", conversationId: "c1", update: { kind: "thinking", text: "Hm." } },
      { type: "update", conversationId: "c1", update: { kind: "text", text: "The reader yields on newlines only, so a last line **without** one is" } },
      { type: "notice", level: "warning", text: "The window is nearly full, and nothing can be compacted." },
    );
    await picture(panel, `running-${theme}`);
  });
}

inBrowser("picture: a branch that is looked at", { width: 320, height: 500 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK.slice(1, 3), { preview: { leafId: "l" } }));
  await picture(panel, "preview");
});

inBrowser("picture: the narrowest sidebar", { width: 220, height: 1200 }, async (panel) => {
  await panel.post(RUNNING, shown(TALK, { nextBefore: "m1" }));
  await picture(panel, "narrow");
});

inBrowser("picture: the list of conversations", { width: 320, height: 500 }, async (panel) => {
  const others = ["Retry the upload", "settings from INI to TOML: plan, migration, and the tests of both", "Why is the export slow?"];
  await panel.post(RUNNING, shown(TALK.slice(1, 3)), {
    type: "conversations",
    conversations: [CONVERSATION, ...others.map((name, at) => ({ ...CONVERSATION, id: `o${at}`, name }))],
  });
  await panel.page.getByTestId("conversation-picker").click();
  await picture(panel, "picker");
});

inBrowser("picture: empty conversation, and no model", { width: 320, height: 500 }, async (panel) => {
  await panel.post(RUNNING, { type: "shown", conversation: null, entries: [], running: false }, {
    type: "notice",
    level: "error",
    text: "No model is set up. Name one in the settings; compacting works without.",
    action: { label: "Choose a Model", command: "coppice.setUpModel" },
  });
  await picture(panel, "welcome");
});

inBrowser("picture: no model is set, and VS Code offers one", { width: 320, height: 500 }, async (panel) => {
  await panel.post(RUNNING, { type: "shown", conversation: null, entries: [], running: false }, { type: "modelOffer", name: "Claude Sonnet" }, {
    type: "notice",
    level: "error",
    text: "No model is set. Name one in the settings; compacting works without.",
    action: { label: "Choose a Model", command: "coppice.setUpModel" },
  });
  await picture(panel, "model-offer");
});

const SERVERS: readonly Extract<ToPage, { type: "server" }>[] = [
  { type: "server", state: "absent", canInstall: true },
  { type: "server", state: "absent", canInstall: true, message: "The server could not be installed. ERROR: No matching distribution found for pygls>=2" },
  { type: "server", state: "absent", canInstall: false, message: "The setting coppice.server.path names no program: /opt/coppice. Give the full path of a coppice program, or leave it empty." },
  { type: "server", state: "installing", message: "Installing pydantic" },
  { type: "server", state: "starting" },
  { type: "server", state: "failed", message: "The server ended several times in a row." },
  { type: "server", state: "stopped" },
];
for (const [at, server] of SERVERS.entries()) {
  inBrowser(`picture: the server is ${server.state}, ${at}`, { theme: THEMES[at % THEMES.length] ?? "dark", width: at % 2 === 0 ? 170 : 320, height: 400 }, async (panel) => {
    await panel.post(server);
    await picture(panel, `server-${at}-${server.state}`);
  });
}

inBrowser("picture: no model is set, and the conversation is empty", { width: 320, height: 500 }, async (panel) => {
  await panel.post(RUNNING, { type: "model", problem: "No model is set." }, { type: "shown", conversation: null, entries: [], running: false });
  await picture(panel, "choose-model");
});
