// A browser window with VS Code in it, and what a person does there.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium as browserType, type BrowserContext, type FrameLocator, type Locator, type Page } from "playwright-core";
import { artifacts, chromium } from "./places.ts";
import { PATIENCE } from "./waiting.ts";

const SWITCHES = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Window {
  readonly page: Page;
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
  }

  static async open(url: string): Promise<Window> {
    const context = await browserType.launchPersistentContext("", {
      executablePath: chromium,
      headless: true,
      args: SWITCHES,
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(PATIENCE);
    const page = context.pages()[0] ?? (await context.newPage());
    const window = new Window(context, page);
    await page.goto(url);
    await window.ready();
    return window;
  }

  async ready(): Promise<void> {
    await this.page.locator(".monaco-workbench .statusbar").waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** Opens the Coppice sidebar. */
  async openCoppice(): Promise<void> {
    await this.page.locator(".activitybar").getByRole("tab", { name: "Coppice" }).click();
  }

  /** The document of the Chat view. */
  get chat(): FrameLocator {
    return this.page.frameLocator("iframe.webview").frameLocator("#active-frame");
  }

  /** A section of the sidebar, by its title. */
  section(title: string): Locator {
    return this.page.locator(".sidebar .pane").filter({ has: this.page.getByRole("button", { name: `${title} Section` }) });
  }

  /** Runs a command from the palette. */
  async run(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    const box = this.page.locator(".quick-input-widget input[type=text]");
    await box.fill(`>${title}`);
    await this.choose(title);
  }

  /** Takes the entry of the open quick pick that has this text. */
  async choose(text: string | RegExp): Promise<void> {
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    await rows.filter({ hasText: text }).first().click();
  }

  /** Answers the open input box. */
  async answer(text: string): Promise<void> {
    const box = this.page.locator(".quick-input-widget input[type=text]");
    await box.fill(text);
    await box.press("Enter");
  }

  get statusBar(): Locator {
    return this.page.locator(".statusbar");
  }

  get notifications(): Locator {
    return this.page.locator(".notification-toast, .notification-list-item");
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(artifacts, { recursive: true });
    await this.page.screenshot({ path: join(artifacts, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.#context.close();
  }
}
