import { execFileSync } from "node:child_process";
import { FILES } from "./harness/example.ts";
import { scene } from "./harness/scene.ts";

const SHOP = { files: FILES, tools: "allow" } as const;

scene("a checkout of a branch is one line under Files, apart from what was changed", SHOP, async ({ editor, window, provider }) => {
  const git = (...given: string[]) => execFileSync("git", ["-c", "user.name=n", "-c", "user.email=n@example.org", ...given], { cwd: editor.workspace });
  const many = [...Array(400).keys()].map((number) => `src/many/${String(number)}.py`);
  // In a folder that is there already: a watcher may miss files of one that is made at the same moment.
  for (const path of many) editor.write(path, "x = 0\n");
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "The shop");
  git("checkout", "-q", "-b", "feature-x");
  for (const path of many) editor.write(path, "x = 1\n");
  git("add", ".");
  git("commit", "-q", "-m", "Many files");
  git("checkout", "-q", "main");

  const chat = await window.openCoppice();
  await chat.play(provider, {
    asks: "Write notes.",
    answers: [{ calls: [["call-1", "write_file", { path: "notes.md", content: "Floats." }]] }, { text: "They are written." }],
  });
  git("checkout", "-q", "feature-x");
  await window.expand("Files");
  await window.rows("Files").filter({ hasText: /Checked out feature-x, \d{3} files/ }).waitFor();
  await window.rows("Files").filter({ hasText: "notes.md" }).waitFor();
  if ((await window.rows("Files").filter({ hasText: ".py" }).count()) > 0) throw new Error("Files of the checkout are listed.");
  await window.screenshot("checkout");
});

scene("a file that is edited and saved is listed under Files, and opens from there", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, { asks: "I'll change the API myself.", answers: [{ text: "Tell me when it is done." }] });
  await window.openFile("src/api.py");
  await window.page.keyboard.press("Control+End");
  await window.page.keyboard.type("# prices are cents");
  await window.page.keyboard.press("Control+S");

  await window.expand("Files");
  const row = window.rows("Files").filter({ hasText: "api.py" });
  await row.waitFor();
  await window.screenshot("files");
  await window.page.keyboard.press("Control+K");
  await window.page.keyboard.press("Control+W");
  await window.editorTab("api.py").waitFor({ state: "hidden" });
  await row.click();
  await window.editorTab("api.py").waitFor();
});

scene("files that tools read and wrote are listed under Files", SHOP, async ({ window, provider }) => {
  const chat = await window.openCoppice();
  await chat.play(provider, {
    asks: "Read the prices, and write notes.",
    answers: [
      { calls: [["call-1", "read_file", { path: "src/prices.py" }]] },
      { calls: [["call-2", "write_file", { path: "notes.md", content: "Floats." }]] },
      { text: "They are floats; the notes say so." },
    ],
  });
  await window.expand("Files");
  await window.rows("Files").filter({ hasText: "Read" }).click();
  await window.rows("Files").filter({ hasText: "prices.py" }).waitFor();
  await window.rows("Files").filter({ hasText: "notes.md" }).waitFor();
});
