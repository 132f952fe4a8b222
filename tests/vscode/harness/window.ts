// A window of the browser with VS Code in it, in a profile of its own, and what a person does there.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { type Browser, chromium, type BrowserContext, type Locator, type Page } from "playwright-core";
import { Chat } from "./chat.ts";
import { artifacts, browser } from "./places.ts";
import { PATIENCE, until } from "./waiting.ts";

const CHAT_KEY = "Control+Alt+C";

let connecting: Promise<Browser> | undefined;
after(async () => (await connecting)?.close());

export class Window {
  readonly page: Page;
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
  }

  static async open(url: string): Promise<Window> {
    connecting ??= chromium.connect(browser);
    const context = await (await connecting).newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
      reducedMotion: "reduce", // Without a graphics card, each frame of what moves costs the processor.
      extraHTTPHeaders: { "Accept-Encoding": "identity" }, // code-server would pack 19 MB anew for each window.
    });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const window = new Window(context, page);
    await page.goto(url);
    await window.ready();
    return window;
  }

  /** Waits until the extension is known: then its commands are. */
  async ready(): Promise<void> {
    await this.#tab.waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** Reloads once VS Code has stored items that match, each as its key, a space and its value: in a browser it stores the layout every five seconds. */
  async reloadOnceStored(...items: RegExp[]): Promise<void> {
    await until(`${items.join(", ")} are stored`, async () => {
      const stored = await this.page.evaluate(storedItems);
      return items.every((item) => stored.some((each) => item.test(each)));
    });
    await this.reload();
  }

  /** Opens Coppice's lists and the chat, and gives the chat once one can write there. */
  async openCoppice(): Promise<Chat> {
    // A focus that comes late would close what is opened next; one that VS Code is asked for while it restores the chat is lost.
    if (await this.#open("textarea:enabled")) await this.#awaitChat("textarea:focus");
    return this.chat;
  }

  /** Opens Coppice's lists and the chat, whatever the chat shows. */
  async openSidebars(): Promise<Chat> {
    await this.#open(".panel");
    return this.chat;
  }

  /** Gives whether the chat had to be asked for, and takes the focus. */
  async #open(content: string): Promise<boolean> {
    await this.#openLists();
    if (await this.chat.frame.locator(content).isVisible()) return false;
    await this.page.keyboard.press(CHAT_KEY);
    await this.#awaitChat(content);
    await this.#openLists(); // A window that restores them meanwhile has them folded by the click.
    return true;
  }

  async #openLists(): Promise<void> {
    const open = this.#tab.and(this.page.getByRole("tab", { expanded: true }));
    await until("the lists are open", async () => {
      if (await open.isVisible()) return true;
      await this.#tab.click();
      return open.waitFor({ timeout: 2_000 }).then(() => true, () => false);
    });
  }

  /** Asks for the chat again only where nothing comes: what is asked for twice takes the focus twice. */
  async #awaitChat(content: string): Promise<void> {
    await until(`the chat has ${content}`, async () => {
      const isThere = await this.chat.frame.locator(content).waitFor({ timeout: 5_000 }).then(() => true, () => false);
      if (!isThere) await this.page.keyboard.press(CHAT_KEY);
      return isThere;
    });
  }

  /** Takes away what a scene left: editors, notifications and its conversation. None is open then, as in a new window. */
  async clear(): Promise<void> {
    await this.run("Coppice Tests: Clear");
    await this.page.locator(".tabs-container").getByRole("tab").first().waitFor({ state: "hidden" });
    await this.notifications.first().waitFor({ state: "hidden" });
    if ((await this.chat.asked.count()) === 0) return;
    await this.run("Coppice: Delete Conversation…");
    await this.dialog.getByRole("button", { name: "Delete" }).click();
    await this.chat.asked.first().waitFor({ state: "hidden" });
  }

  get #tab(): Locator {
    return this.page.locator(".activitybar").getByRole("tab", { name: "Coppice" });
  }

  /** The chat in the secondary side bar. A view that was hidden and is shown again does not name its purpose any more. */
  get chat(): Chat {
    const named = "iframe.webview[src*='purpose=webviewView']";
    return this.#chatIn(`${named}, body:not(:has(${named})) iframe.webview`);
  }

  /** The chat in the tab of the editor that is in sight. */
  get chatInTab(): Chat {
    return this.#chatIn("iframe.webview:not([src*='purpose='])");
  }

  #chatIn(frame: string): Chat {
    return new Chat(this.page.frameLocator(frame).frameLocator("#active-frame"));
  }

  /** The rows of a tree view in the sidebar, by the view's title. */
  rows(view: string): Locator {
    return this.page.locator(".pane").filter({ has: this.#header(view) }).locator(".monaco-list-row");
  }

  /** Opens a view of the sidebar that is folded. */
  async expand(view: string): Promise<void> {
    await this.#setExpanded(view, "true");
  }

  async fold(view: string): Promise<void> {
    await this.#setExpanded(view, "false");
  }

  async #setExpanded(view: string, wanted: "true" | "false"): Promise<void> {
    const header = this.#header(view);
    if ((await header.getAttribute("aria-expanded")) !== wanted) await header.click();
    await header.and(this.page.locator(`[aria-expanded=${wanted}]`)).waitFor();
  }

  #header(view: string): Locator {
    return this.page.getByRole("button", { name: `${view} Section` });
  }

  /** Draws the edge of the secondary side bar, which has the chat, to `width` pixels. */
  async widenChat(width: number): Promise<void> {
    const box = await this.page.locator(".part.auxiliarybar").boundingBox();
    if (box === null) throw new Error("The secondary side bar is closed.");
    const { mouse } = this.page;
    await mouse.move(box.x - 1, 300);
    await mouse.down();
    await mouse.move(box.x + box.width - width, 300, { steps: 4 });
    await mouse.up();
  }

  /** The whole text of the open editor, also what is not in sight. */
  async copiedText(): Promise<string> {
    await this.editorText.first().click();
    await this.page.keyboard.press("Control+A");
    await this.page.keyboard.press("Control+C");
    return this.clipboard();
  }

  /**
   * Takes an entry of a row's context menu. Nothing comes of it where the list changes under the menu, which the status
   * bar says for a moment, or where a focus that comes late closes the menu: a person takes it again then.
   */
  async menu(row: Locator, entry: string, isDone?: () => Promise<boolean>): Promise<void> {
    const item = this.page.getByRole("menuitem", { name: entry });
    await until(`${entry} is done`, async () => {
      if ((await isDone?.()) === true) return true;
      await row.click({ button: "right" });
      try {
        // A click that comes too soon after the menu is taken for the end of the one that opened it.
        await item.hover({ timeout: 5000 });
        await this.page.locator(".action-item.focused").filter({ has: item }).waitFor({ timeout: 5000 });
        // Takes the focus first: a key of the keyboard alone could go to whatever closes the menu at this moment.
        await item.press("Enter", { timeout: 5000 });
      } catch {
        // What opened before its entries were all there keeps clicks from what is below.
        if (await this.page.locator(".context-view .monaco-menu").isVisible()) await this.page.keyboard.press("Escape");
        return false;
      }
      await item.waitFor({ state: "hidden" });
      return isDone === undefined || until("", isDone, PATIENCE / 2).catch(() => false);
    });
  }

  /** Opens a file of the workspace in the editor, which has the focus then. */
  async openFile(path: string): Promise<void> {
    const [name = path, folder = ""] = path.split("/").reverse();
    await until(`${path} is open`, async () => {
      await this.page.keyboard.press("Control+P");
      try {
        await this.#box.fill(path, { timeout: 3000 });
        // At first the list has what was open before, also files of the same name.
        await this.choices.filter({ hasText: name }).filter({ hasText: folder }).first().click({ timeout: 5000 });
        await this.page.locator(`.monaco-editor.focused[data-uri$="/${path}"]`).waitFor({ timeout: 5000 });
        return true;
      } catch {
        return false; // As with the palette.
      }
    });
  }

  /** The text of the open editors. */
  get editorText(): Locator {
    return this.page.locator(".editor-container .view-lines");
  }

  editorTab(name: string): Locator {
    return this.page.locator(".tabs-container").getByRole("tab", { name });
  }

  /** Runs a command from the palette. */
  async run(title: string): Promise<void> {
    await until(`the palette offers ${title}`, async () => {
      await this.page.keyboard.press("F1");
      try {
        await this.#box.fill(`>${title}`, { timeout: 3000 });
        const offered = this.page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: title });
        await offered.waitFor({ timeout: 5000 });
        // A click could fall on the list that the command opens at the same place.
        await this.#box.press("Enter");
        // A list that is being made anew takes no Enter.
        await until("the palette takes it", async () => !(await this.#typed()).startsWith(">"), 5000);
        return true;
      } catch {
        return false; // Something took the focus, and with it the palette.
      }
    });
  }

  /** What the open palette or input box holds; nothing where there is none. */
  async #typed(): Promise<string> {
    if (!(await this.#box.isVisible())) return "";
    return this.#box.inputValue({ timeout: 1000 }).catch(() => "");
  }

  /** The entries of the open quick pick. */
  get choices(): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row");
  }

  /** Takes the entry of the open quick pick that has this text. */
  async choose(text: string, timeout = PATIENCE): Promise<void> {
    await this.choices.filter({ hasText: text }).first().click({ timeout });
  }

  /** Runs a command that opens a quick pick, and takes an entry. */
  async runAndChoose(title: string, text: string): Promise<void> {
    await this.openAndChoose(() => this.run(title), text);
  }

  /** Takes an entry of the quick pick that `open` opens. A chat whose focus comes late closes the quick pick. */
  async openAndChoose(open: () => Promise<void>, text: string): Promise<void> {
    await until(`${text} is chosen`, async () => {
      await open();
      return this.choose(text, 5000).then(() => true, () => false);
    });
  }

  /** Runs a command that opens an input box, and answers it. A chat whose focus comes late closes the input box. */
  async runAndAnswer(title: string, text: string): Promise<void> {
    await until(`${title} is answered`, async () => {
      await this.run(title);
      try {
        await this.#box.fill(text, { timeout: 5000 });
        await this.#box.press("Enter", { timeout: 5000 });
        return true;
      } catch {
        return false;
      }
    });
  }

  /** Writes into the quick pick with this placeholder, as soon as it is there. */
  async look(placeholder: string, text: string): Promise<void> {
    await this.page.getByPlaceholder(placeholder).fill(text);
  }

  /** Answers the input box with this title, as soon as it is open and shows `prompt`. */
  async answerTo(title: string, text: string, prompt = ""): Promise<void> {
    await this.question(title).filter({ hasText: prompt }).waitFor();
    await this.#box.fill(text);
    await this.#box.press("Enter");
  }

  /** The input box of this title. */
  question(title: string): Locator {
    return this.page.locator(".quick-input-widget").filter({ has: this.page.locator(".quick-input-title", { hasText: title }) });
  }

  /** Names a file in the open file dialog, once it has filled in the folder or the file that it begins with. */
  async chooseFile(path: string): Promise<void> {
    await until("the file dialog shows a place", async () => (await this.#box.inputValue()).startsWith("/"));
    await until("the file is taken", async () => {
      // The dialog reads the folder first, and then says what it is about to take. It may close late.
      if ((await this.#typed()) !== path) await this.#box.fill(path, { timeout: 1000 }).catch(() => undefined);
      await this.page.waitForTimeout(1000);
      if ((await this.#typed()) === path) await this.#box.press("Enter");
      return this.#box.waitFor({ state: "hidden", timeout: 500 }).then(() => true, () => false);
    });
  }

  get #box(): Locator {
    return this.page.locator(".quick-input-widget input:is([type=text], [type=password])");
  }

  /** A question that must be answered first. */
  get dialog(): Locator {
    return this.page.locator(".monaco-dialog-box"); // the role is that of notifications, too
  }

  async clipboard(): Promise<string> {
    return this.page.evaluate("navigator.clipboard.readText()");
  }

  get statusBar(): Locator {
    return this.page.locator(".statusbar");
  }

  get notifications(): Locator {
    return this.page.locator(".notification-list-item");
  }

  /** Presses a button of a notification, also of one that VS Code has put away meanwhile, as it does after some ten seconds. */
  async answerNotification(text: string, button: string): Promise<void> {
    const wanted = this.notifications.filter({ hasText: text }).getByRole("button", { name: button });
    await until(`${button} of “${text}” is pressed`, async () => {
      if (await wanted.click({ timeout: 5000 }).then(() => true, () => false)) return true;
      await this.run("Notifications: Show Notifications");
      return false;
    });
  }

  /** The notifications and the status bar's texts, as a person reads them: why something did not happen. */
  async messages(): Promise<string> {
    const texts = await Promise.all([this.notifications, this.dialog, this.statusBar].map((part) => part.allInnerTexts()));
    return texts.flat().join("\n");
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(artifacts, { recursive: true });
    await this.page.screenshot({ path: join(artifacts, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.#context.close();
  }
}

/** What the page has stored in its databases: each item's key, a space and its value. Runs in the page. */
async function storedItems(): Promise<string[]> {
  const done = <T>(request: IDBRequest<T>): Promise<T> => new Promise((resolve, reject) => {
    request.onsuccess = () => { resolve(request.result); };
    request.onerror = () => { reject(new Error(String(request.error))); };
  });
  const items: string[] = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name ?? ""));
    for (const each of database.objectStoreNames) {
      const store = database.transaction(each).objectStore(each);
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      items.push(...keys.map((key, at) => `${String(key)} ${String(values[at])}`));
    }
    database.close();
  }
  return items;
}
