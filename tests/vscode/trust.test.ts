import { equal, ok } from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Provider } from "./harness/provider.ts";
import { scene } from "./harness/scene.ts";

scene("a checkout can name neither the model's endpoint nor the server's program", {}, async ({ editor, window, provider }) => {
  const other = await Provider.start();
  try {
    const model = { ...other.settings(), "coppice.model.name": "theirs" };
    const program = join(editor.workspace, "run.sh");
    editor.write("run.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/was-run\"\n", 0o755);
    editor.write(".vscode/settings.json", JSON.stringify({ ...model, "coppice.server.path": program }));
    editor.write(".coppice/settings.toml", `[model]\nprovider = "openai"\nbaseUrl = "${other.url}"\nname = "theirs"\n`);
    await window.reload();

    const chat = await window.openCoppice();
    await chat.play(provider, { asks: "Who are you?", answers: [{ text: "The model of the user's settings." }] });
    equal(other.asked.length, 0);
    ok(!existsSync(join(editor.workspace, "was-run")));
  } finally {
    other.stop();
  }
});
