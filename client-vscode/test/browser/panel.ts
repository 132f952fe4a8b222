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
const PATIENCE = 10_000;
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

interface ThemeValues {
  body: string;
  variables: Record<string, string>;
}
const themes = JSON.parse(readFileSync("test/browser/themes.json", "utf8")) as Record<Theme, ThemeValues>;

let browser: Promise<Browser> | undefined;
after(async () => { await (await browser)?.close(); });

interface PanelOptions {
  theme?: Theme;
  width?: number;
  height?: number;
}

export class PanelPage {
  /** What went wrong in the page: errors, and what the policy refused. */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page) {
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async open({ theme = "dark", width = 320, height = 700 }: PanelOptions = {}): Promise<PanelPage> {
    browser ??= chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", "--disable-gpu"] });
    const context = await (await browser).newContext({ viewport: { width, height } });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const panel = new PanelPage(page);
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
    await page.addInitScript(() => {
      const posted: unknown[] = [];
      Object.assign(globalThis, { posted, acquireVsCodeApi: () => ({ postMessage: (message: unknown) => posted.push(message), setState: (state: unknown) => Object.assign(globalThis, { state }) }) });
    });
    await page.goto(ORIGIN);
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

  async post(...messages: readonly ToPage[]): Promise<void> {
    await this.page.evaluate(async (messages) => {
      for (const message of messages) postMessage(message, "*");
      // The messages are delivered one by one, and shown with the next frame.
      await new Promise((resolve) => setTimeout(resolve));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }, messages as ToPage[]);
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

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** A test in a browser. Without one it is skipped, and fails where CI must not skip it. */
export function inBrowser(name: string, options: PanelOptions, play: (panel: PanelPage) => Promise<void>): void {
  const skip = executablePath === undefined && process.env["CI"] !== "true" && "there is no Chromium";
  void test(name, { skip }, async () => {
    const panel = await PanelPage.open(options);
    try {
      await play(panel);
    } finally {
      await panel.close();
    }
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
