// What a test plays in: an editor, a window, and a provider; gone afterwards, and explained when the test failed.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Editor, type EditorOptions } from "./editor.ts";
import { artifacts } from "./places.ts";
import { Provider } from "./provider.ts";
import { Window } from "./window.ts";

export interface Scene {
  editor: Editor;
  window: Window;
  provider: Provider;
}

export interface SceneOptions extends EditorOptions {
  /** The model may use the tests' tools; `ask` has the user asked first. */
  tools?: "allow" | "ask";
  /** Leaves the extension without a model. */
  withoutModel?: boolean;
  contextWindow?: number;
}

/** What a scene plays in, as it comes to be. */
interface Opening {
  provider: Promise<Provider>;
  editor: Promise<Editor>;
  window: Promise<Window>;
}

/** The options of all scenes, in the order in which they are played. */
const scenes: SceneOptions[] = [];
/** What the next scene plays in: opened while the one before is played, or left by it. */
let ahead: { options: SceneOptions; opening: Opening } | undefined;
/** With a pattern, the runner does not say which scene is the next. */
const opensAhead = !process.execArgv.some((argument) => argument.startsWith("--test-name-pattern"));

/** Starts what a scene plays in. */
function open(options: SceneOptions): Opening {
  const provider = Provider.start();
  const editor = provider.then((model) => Editor.start({ ...options, settings: settingsOf(options, model) }));
  const opening = { provider, editor, window: editor.then(({ url }) => Window.open(url)) };
  // A failure is that of the scene, which waits for it later.
  for (const part of Object.values(opening)) part.catch(() => undefined);
  return opening;
}

async function close({ provider, editor, window }: Opening): Promise<void> {
  await window.then((part) => part.close()).catch(() => undefined); // the browser may be gone
  await editor.then((part) => part.stop(), () => undefined);
  await provider.then((part) => { part.stop(); }, () => undefined);
}

/**
 * A test. Those that are given the same options object, one after the other, play in one window, where no
 * conversation is open when each begins; after one that failed the next has another window.
 */
export function scene(name: string, options: SceneOptions, play: (scene: Scene) => Promise<void>): void {
  const at = scenes.push(options) - 1;
  void test(name, async ({ signal }) => {
    const opening = ahead?.options === options ? ahead.opening : open(options);
    if (ahead !== undefined && ahead.opening !== opening) await close(ahead.opening);
    ahead = undefined;
    try {
      const window = await opening.window;
      const [editor, provider] = await Promise.all([opening.editor, opening.provider]);
      const next = scenes[at + 1];
      if (opensAhead && next !== undefined && next !== options) ahead = { options: next, opening: open(next) };
      await play({ editor, window, provider });
      if (next === options && !signal.aborted) {
        await window.clear();
        provider.clear();
        ahead = { options, opening };
      }
    } catch (error) {
      const file = name.replaceAll(/\W+/g, "-");
      mkdirSync(artifacts, { recursive: true });
      await opening.editor.then((editor) => { writeFileSync(join(artifacts, `failed-${file}.log`), editor.logs()); }, () => undefined);
      await opening.window.then((window) => window.screenshot(`failed-${file}`), () => undefined);
      const messages = await opening.window.then((window) => window.messages()).catch(String);
      console.error(`${name}: the window shows\n${messages}`);
      throw error;
    } finally {
      if (ahead?.opening !== opening) await close(opening);
    }
  });
}

after(async () => {
  if (ahead !== undefined) await close(ahead.opening);
});

function settingsOf(options: SceneOptions, provider: Provider): Record<string, unknown> {
  const model = options.withoutModel === true ? {} : provider.settings(options.contextWindow);
  return { ...model, ...toolSettings(options.tools), ...options.settings };
}

function toolSettings(tools: SceneOptions["tools"]): Record<string, unknown> {
  if (tools === undefined) return {};
  return {
    "coppice.chat.tools": ["read_file", "write_file"],
    "coppice.chat.confirmTools": tools === "ask" ? "firstUse" : "never",
  };
}
