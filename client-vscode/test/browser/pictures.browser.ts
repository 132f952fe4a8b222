/** Pictures of everything the panel can show, in each theme, in a narrow and a wide sidebar: test/browser/pictures. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";

import { inBrowser, type PanelPage, THEMES } from "./panel";
import { RUNNING } from "./samples";
import { SERVERS, STATES } from "./states";

const FOLDER = "test/browser/pictures";
mkdirSync(FOLDER, { recursive: true });

/** Pixels: about the narrowest sidebar that VS Code allows, and the chat in an editor. */
const WIDTHS = [170, 900];

/** Takes the picture in each theme, and holds what is true of every state. */
async function pictures(panel: PanelPage, name: string, width: number): Promise<void> {
  const taken = new Set<string>();
  for (const theme of THEMES) {
    await panel.setTheme(theme);
    await panel.page.evaluate(() => document.fonts.ready);
    const image = await panel.page.screenshot({ path: `${FOLDER}/${name}-${theme}-${width}.png`, animations: "disabled" });
    taken.add(image.toString("base64"));
    assert.deepEqual(panel.complaints, [], theme);
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, `nothing is wider than the panel in ${theme}`);
  }
  assert.equal(taken.size, THEMES.length, "no theme looks like another");
}

for (const width of WIDTHS) {
  for (const [name, { height, prepare }] of Object.entries(STATES)) {
    inBrowser(`picture: ${name}, ${width} pixels, ${THEMES.join(", ")}`, { width, height }, async (panel) => {
      await panel.post(RUNNING);
      await prepare(panel);
      await pictures(panel, name, width);
    });
  }
  for (const [name, server] of Object.entries(SERVERS)) {
    inBrowser(`picture: server ${name}, ${width} pixels, ${THEMES.join(", ")}`, { width, height: 320 }, async (panel) => {
      await panel.post(server);
      await pictures(panel, `server-${name}`, width);
    });
  }
}
