// What a test plays in: an editor, a window, and a provider; gone afterwards, and explained when the test failed.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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

/** A test in a window of its own. */
export function scene(name: string, options: SceneOptions, play: (scene: Scene) => Promise<void>): void {
  void test(name, async () => {
    const provider = await Provider.start();
    const model = options.withoutModel === true ? {} : provider.settings(options.contextWindow);
    const settings = { ...model, ...toolSettings(options.tools), ...options.settings };
    const editor = await Editor.start({ ...options, settings });
    let window: Window | undefined;
    try {
      window = await Window.open(editor.url);
      await play({ editor, window, provider });
    } catch (error) {
      const file = name.replaceAll(/\W+/g, "-");
      mkdirSync(artifacts, { recursive: true });
      writeFileSync(join(artifacts, `failed-${file}.log`), editor.logs());
      await window?.screenshot(`failed-${file}`);
      throw error;
    } finally {
      await window?.close();
      await editor.stop();
      provider.stop();
    }
  });
}

function toolSettings(tools: SceneOptions["tools"]): Record<string, unknown> {
  if (tools === undefined) return {};
  return {
    "coppice.chat.tools": ["read_file", "write_file"],
    "coppice.chat.confirmTools": tools === "ask" ? "firstUse" : "never",
  };
}
