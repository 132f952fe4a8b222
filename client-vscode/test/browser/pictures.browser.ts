/** Pictures of everything the panel can show, in each theme, in a narrow and a wide sidebar: dist/pictures. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";

import { inBrowser, type PanelPage, THEMES } from "./panel";
import { RUNNING } from "./samples";
import { SERVERS, STATES } from "./states";

const FOLDER = "dist/pictures";
mkdirSync(FOLDER, { recursive: true });

/** Pixels: about the narrowest sidebar that VS Code allows, and the chat in an editor. */
const WIDTHS = [170, 900];

async function picture(panel: PanelPage, name: string): Promise<void> {
  await panel.page.evaluate(() => document.fonts.ready);
  await panel.page.screenshot({ path: `${FOLDER}/${name}.png`, animations: "disabled" });
  assert.deepEqual(panel.complaints, []);
  const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(overflow, 0, "nothing is wider than the panel");
}

for (const theme of THEMES) {
  for (const width of WIDTHS) {
    for (const [name, { height, prepare }] of Object.entries(STATES)) {
      inBrowser(`picture: ${name}, ${theme}, ${width} pixels`, { theme, width, height }, async (panel) => {
        await panel.post(RUNNING);
        await prepare(panel);
        await picture(panel, `${name}-${theme}-${width}`);
      });
    }
    for (const [name, server] of Object.entries(SERVERS)) {
      inBrowser(`picture: server ${name}, ${theme}, ${width} pixels`, { theme, width, height: 320 }, async (panel) => {
        await panel.post(server);
        await picture(panel, `server-${name}-${theme}-${width}`);
      });
    }
  }
}
