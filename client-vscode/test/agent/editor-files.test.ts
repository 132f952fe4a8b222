/** Files that are open in the editor while others change them on the disk. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { readText, removeFile, writeText } from "../../src/agent/editor/files";
import { Range, type TextDocument, Uri, workspace } from "./vscode";

const folder = mkdtempSync(join(tmpdir(), "coppice-files-"));
after(() => { rmSync(folder, { recursive: true }); });

/** Calls `change` while `writeText` waits for the editor to load the file: after its first look, which follows the reading of the text. */
function meanwhile(change: () => void): void {
  const decode = workspace.decode.bind(workspace);
  let looks = 0;
  workspace.decode = (bytes) => {
    looks += 1;
    if (looks === 2) {
      workspace.decode = decode;
      setImmediate(change);
    }
    return decode(bytes);
  };
}

const onDisk = (path: string): string => readFileSync(path, "utf8");

async function opened(name: string, text: string): Promise<[string, TextDocument]> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return [path, await workspace.openTextDocument(Uri.file(path))];
}

test("a file that the editor does not load again is read and written on the disk, with its byte order mark once", async () => {
  const [path] = await opened("unwatched", "\ufeffa\r\n");
  writeFileSync(path, "\ufeffb\r\n");
  assert.equal(await readText(path), "b\r\n");
  assert.equal(await writeText(path, "c\r\n"), "c\r\n");
  assert.equal(onDisk(path), "\ufeffc\r\n");
});

test("a file that the editor loads late is changed in the editor", async () => {
  const [path, document] = await opened("late", "a\n");
  writeFileSync(path, "b\n");
  meanwhile(() => { document.load(); });
  assert.equal(await writeText(path, "c\n"), "c\n");
  assert.deepEqual([document.getText(), document.isDirty, onDisk(path)], ["c\n", false, "c\n"]);
});

test("an edit of a file with two kinds of line ends, which a document has as one, changes no other line", async () => {
  const [path, document] = await opened("mixed", "a\r\nb\nc\n");
  document.replace(new Range(1, 3), "\n");
  document.isDirty = false;
  assert.equal(await readText(path), "a\r\nb\nc\n");
  await writeText(path, "a\r\nb\nd\n");
  assert.equal(onDisk(path), "a\r\nb\nd\n");
});

for (const isUnsaved of [false, true]) {
  test(`a file that is open in another encoding than its own is not edited, ${isUnsaved ? "nor saved with" : "without"} unsaved changes`, async () => {
    const path = join(folder, `latin-${isUnsaved}`);
    const bytes = Buffer.from("# Andr\xe9\nport = 1\n", "latin1");
    writeFileSync(path, bytes);
    const document = await workspace.openTextDocument(Uri.file(path));
    if (isUnsaved) document.replace(new Range(0, 0), "mine ");
    const text = document.getText().replace("port = 1", "port = 2");
    await assert.rejects(readText(path), /open in the editor as utf8.*Reopen with Encoding.*converted to UTF-8/);
    await assert.rejects(writeText(path, text), /Reopen with Encoding/);
    assert.deepEqual(readFileSync(path), bytes);
  });
}

test("a file whose tab is closed while it is edited is saved all the same", async () => {
  const [path, document] = await opened("closed", "a\n");
  workspace.onEdited = () => { document.close(); };
  try {
    assert.equal(await writeText(path, "b\n"), "b\n");
  } finally {
    workspace.onEdited = () => undefined;
  }
  assert.deepEqual([document.isClosed, onDisk(path)], [true, "b\n"]);
});

test("unsaved changes are read and stay, and an edit that cannot be saved names the file", async () => {
  const [path, document] = await opened("unsaved", "a\n");
  document.replace(new Range(0, 0), "mine ");
  writeFileSync(path, "b\n");
  assert.equal(await readText(path), "mine a\n");
  await assert.rejects(writeText(path, "mine c\n"), /unsaved is changed in the editor, but not saved/);
  assert.deepEqual([document.getText(), onDisk(path)], ["mine c\n", "b\n"]);
});

const BY_OTHERS: Record<string, (path: string, document: TextDocument) => void> = {
  "typed into": (_, document) => { document.replace(new Range(0, 0), "mine "); },
  "changed again": (path) => { writeFileSync(path, "d\n"); },
  deleted: (path) => { rmSync(path); },
};
for (const [what, change] of Object.entries(BY_OTHERS)) {
  test(`nothing is written over a file that is ${what} meanwhile`, async () => {
    const [path, document] = await opened(what, "a\n");
    writeFileSync(path, "b\n");
    const state = (): unknown[] => [document.getText(), existsSync(path) && onDisk(path)];
    let before: unknown[] = [];
    meanwhile(() => {
      change(path, document);
      before = state();
    });
    await assert.rejects(writeText(path, "c\n"), /nothing was written/);
    assert.deepEqual(state(), before);
  });
}

test("an open file that was deleted is made again, and one that is binary now is no text", async () => {
  const [path] = await opened("gone", "a\n");
  await removeFile(path);
  assert.equal(await readText(path), null);
  await writeText(path, "b\n");
  assert.equal(await readText(path), "b\n");
  writeFileSync(path, "\0");
  await assert.rejects(readText(path), /binary/);
});
