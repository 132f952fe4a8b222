/** The Chat view's page in a real browser, with the theme and the host that VS Code would give it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";

import { ChatMemory } from "../../src/chat/memory";
import type { FromPage, Memory, ToPage } from "../../src/chat/messages";
import { policy } from "../../src/chat/policy";

export const THEMES = ["dark", "light", "hc-dark", "hc-light"] as const;
export type Theme = (typeof THEMES)[number];

const ORIGIN = "http://panel.test";
const DIST = "dist";
/** The query of a page that has the focus from the start. */
const FOCUSED = "?focused";
/** Milliseconds for what the page does. Long, because on a busy machine everything takes long. */
const PATIENCE = 60_000;
/** Frames without a change after which a page rests: what an effect or an observer changes comes a frame later. */
const STILL_FRAMES = 2;
/** Frames after which a page is taken for one that never rests. */
const MOST_FRAMES = 1000;
/** Milliseconds from which on a timer does not fire: what leaves by itself stays, however slow the test is. */
const LONG_MS = 1000;
/** Pixels: left of and above the page. */
const OUTSIDE = -1;
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

interface ThemeValues {
  body: string;
  variables: Record<string, string>;
}
const themes = JSON.parse(readFileSync("test/browser/themes.json", "utf8")) as Record<Theme, ThemeValues>;

let browser: Promise<Browser> | undefined;
after(async () => { await (await browser)?.close(); });
/** Pages that tests have left. A new one, in a context of its own, takes longer than most tests. */
const free: Page[] = [];

interface PanelOptions {
  theme?: Theme;
  width?: number;
  height?: number;
  /** Another clock, which is Playwright's, runs in the page. */
  hasClock?: boolean;
  /** The page has the focus before its script runs. */
  hasFocus?: boolean;
}

export class PanelPage {
  /** What went wrong in the page: errors, and what the policy refused. */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page, readonly hasClock: boolean) {
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async open({ theme = "dark", width = 320, height = 700, hasClock = false, hasFocus = false }: PanelOptions = {}): Promise<PanelPage> {
    const page = free.pop() ?? await newPage();
    const panel = new PanelPage(page, hasClock);
    await page.setViewportSize({ width, height });
    await page.route("**/*", async (route) => {
      const { origin, pathname } = new URL(route.request().url());
      if (origin !== ORIGIN) {
        panel.complaints.push(`asked for ${route.request().url()}`);
        await route.abort();
      } else if (pathname === "/") {
        await route.fulfill({ contentType: "text/html", body: frame(theme) });
      } else {
        await route.fulfill({ path: join(DIST, pathname) });
      }
    });
    await page.goto(hasFocus ? `${ORIGIN}/${FOCUSED}` : ORIGIN);
    if (hasClock) await page.clock.install();
    return panel;
  }

  /** Exchanges the theme, as VS Code does in a view that is open. */
  async setTheme(theme: Theme): Promise<void> {
    await this.page.evaluate(({ body, style }) => {
      // The policy refuses a style sheet's new text, and lets a rule be changed.
      (document.styleSheets[0]?.cssRules[0] as CSSStyleRule).style.cssText = style;
      document.body.className = body;
    }, { body: themes[theme].body, style: styleOf(theme) });
  }

  /** Posts messages, and waits until the page shows what follows from them. */
  async post(...messages: readonly ToPage[]): Promise<void> {
    await this.deliver(...messages);
    await this.settle();
  }

  /** Posts messages, and waits until the page has them. It shows them with the next frame. */
  async deliver(...messages: readonly ToPage[]): Promise<void> {
    await this.page.evaluate(async (all) => {
      const last = "the last of the test's messages";
      const delivered = new Promise<void>((resolve) => {
        const listen = ({ data }: MessageEvent<unknown>): void => {
          if (data !== last) return;
          removeEventListener("message", listen);
          resolve();
        };
        addEventListener("message", listen);
      });
      for (const message of [...all, last]) postMessage(message, "*");
      await delivered;
    }, messages as ToPage[]);
  }

  /** Waits until the page rests: nothing is changed, scrolled, focused or posted any more. */
  async settle(): Promise<void> {
    const isStill = await this.page.evaluate(async ({ still, most }) => {
      const { posted } = globalThis as unknown as { posted: unknown[] };
      let changes = 0;
      const note = (): void => { changes += 1; };
      const events = ["scroll", "scrollend", "focusin", "focusout"];
      for (const name of events) addEventListener(name, note, true);
      const observer = new MutationObserver(note);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const state = (): string => {
        const log = document.querySelector(".log-scroll");
        return [changes, posted.length, log?.scrollTop, log?.scrollHeight, log?.clientHeight].join();
      };
      let same = 0;
      for (let frames = 0, before = state(); same < still && frames < most; frames += 1) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        const now = state();
        same = now === before ? same + 1 : 0;
        before = now;
      }
      for (const name of events) removeEventListener(name, note, true);
      observer.disconnect();
      return same === still;
    }, { still: STILL_FRAMES, most: MOST_FRAMES });
    if (!isStill) throw new Error("The page does not come to rest.");
  }

  /** Gives the page another width or height. */
  async resize(size: { width: number; height: number }): Promise<void> {
    await this.page.setViewportSize(size);
    await this.page.waitForFunction(({ width, height }) => innerWidth === width && innerHeight === height, size);
    await this.settle();
  }

  /** What the page has posted to the host so far, without what is to be kept, and its focus. */
  async asked(): Promise<FromPage[]> {
    return (await this.posted()).filter(({ type }) => !["draft", "place", "focused", "blurred"].includes(type));
  }

  /** Everything that the page has posted to the host so far. */
  async posted(): Promise<FromPage[]> {
    return this.page.evaluate(() => (globalThis as unknown as { posted: FromPage[] }).posted);
  }

  /** What the host keeps of all that the page asked to be kept. */
  async remembered(): Promise<Memory> {
    let memory: Memory = { drafts: {}, places: {} };
    const chatMemory = new ChatMemory({ get: <T>() => memory as T, update: (_key, value: Memory) => { memory = value; return Promise.resolve(); } });
    for (const message of await this.posted()) {
      if (message.type === "draft") await chatMemory.keepDraft(message.conversationId, message.text);
      if (message.type === "place") await chatMemory.keepPlace(message);
    }
    return memory;
  }

  /** Gives the page to the next test, but for one whose clock cannot be set back. */
  async close(): Promise<void> {
    if (this.hasClock) {
      await this.page.context().close();
      return;
    }
    for (const event of ["pageerror", "console", "dialog"]) this.page.removeAllListeners(event);
    await this.page.unrouteAll();
    await this.page.emulateMedia({ reducedMotion: null });
    await this.page.mouse.move(OUTSIDE, OUTSIDE);
    await this.page.goto("about:blank");
    free.push(this.page);
  }
}

async function newPage(): Promise<Page> {
  browser ??= chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", "--disable-gpu"] });
  const context = await (await browser).newContext();
  context.setDefaultTimeout(PATIENCE);
  await context.addInitScript(({ long, focused }) => {
    const set = setTimeout;
    Object.assign(globalThis, { setTimeout: (call: () => void, delay = 0) => (delay < long ? set(call, delay) : 0) });
    const posted: unknown[] = [];
    Object.assign(globalThis, { posted, acquireVsCodeApi: () => ({ postMessage: (message: unknown) => posted.push(message), setState: (state: unknown) => Object.assign(globalThis, { state }) }) });
    if (location.search === focused) return;
    Object.assign(document, { hasFocus: () => false });
    addEventListener("load", () => Reflect.deleteProperty(document, "hasFocus"));
  }, { long: LONG_MS, focused: FOCUSED });
  return context.newPage();
}

/** A test in a browser. Without one it is skipped, and fails where CI must not skip it. */
export function inBrowser(name: string, options: PanelOptions, play: (panel: PanelPage) => Promise<void>): void {
  const skip = executablePath === undefined && process.env["CI"] !== "true" && "there is no Chromium";
  void test(name, { skip }, async () => {
    const panel = await PanelPage.open(options);
    await play(panel);
    await panel.close(); // One whose test failed is left alone.
  });
}

/** The theme's colours and fonts, as declarations of a style sheet. */
function styleOf(theme: Theme): string {
  return Object.entries(themes[theme].variables).map(([name, value]) => `${name}: ${value};`).join(" ").replaceAll('"', "'");
}

function frame(theme: Theme): string {
  // The theme is a style sheet of its own, as VS Code sets it past the page's policy.
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<style>:root { ${styleOf(theme)} } body { background: var(--vscode-sideBar-background); }</style>
<style>${readFileSync("test/browser/vscode-default.css", "utf8")}</style>
<meta http-equiv="Content-Security-Policy" content="${policy(ORIGIN, "abc")}">
<link rel="stylesheet" href="/webview.css">
<title>Coppice Chat</title>
</head>
<body class="${themes[theme].body}">
<div id="root"></div>
<script nonce="abc" src="/webview.js"></script>
</body>
</html>`;
}
