import assert from "node:assert/strict";
import { test } from "node:test";

import { target } from "../src/chat/links";
import { followable } from "../webview/markdown/links";

const FOLDERS = ["/home/ada/orchard", "/home/ada/tools"];

test("a web address leads to the web", () => {
  assert.deepEqual(target("https://example.org/a?b#c", FOLDERS), { kind: "web", url: "https://example.org/a?b#c" });
});

test("a path leads to a file of a workspace folder, at its line", () => {
  const cases: readonly [href: string, path: string, line?: number][] = [
    ["src/lines.py", "/home/ada/orchard/src/lines.py"],
    ["./src/lines.py#L12", "/home/ada/orchard/src/lines.py", 12],
    ["src/lines.py:12", "/home/ada/orchard/src/lines.py", 12],
    ["src/lines.py:12:4", "/home/ada/orchard/src/lines.py", 12],
    ["src/lines.py#L12-L20", "/home/ada/orchard/src/lines.py", 12],
    ["src/a%20b.py", "/home/ada/orchard/src/a b.py"],
    ["../tools/run.sh", "/home/ada/tools/run.sh"],
    ["/home/ada/tools/run.sh", "/home/ada/tools/run.sh"],
    ["file:///home/ada/orchard/..name", "/home/ada/orchard/..name"],
  ];
  for (const [href, path, line] of cases) {
    assert.deepEqual(target(href, FOLDERS), { kind: "file", path, ...(line === undefined ? {} : { line }) }, href);
  }
});

test("nothing else leads anywhere", () => {
  const refused = [
    "", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "command:workbench.action.quit", "vscode://x/y",
    "../secret", "/etc/passwd", "src/../../secret", "..%2F..%2Fsecret", "file:///etc/passwd", "file://host/home/ada/orchard/a",
    "file:///home/ada/orchard", "%00", "src/%", "https://", "mailto:a@example.org",
  ];
  for (const href of refused) assert.equal(target(href, FOLDERS), undefined, href);
  assert.equal(target("src/lines.py", []), undefined);
});

test("on Windows a drive is no scheme and another drive no workspace", () => {
  const folders = ["C:\\orchard"];
  assert.deepEqual(target("C:\\orchard\\a.py:3", folders, true), { kind: "file", path: "C:\\orchard\\a.py", line: 3 });
  assert.deepEqual(target("file:///C:/orchard/a.py", folders, true), { kind: "file", path: "C:\\orchard\\a.py" });
  assert.equal(target("D:\\orchard\\a.py", folders, true), undefined);
  assert.equal(target("\\\\host\\share\\a.py", folders, true), undefined);
});

test("the page shows no link for what could not be followed", () => {
  for (const href of ["https://example.org", "src/a.py", "file:///a", "/abs", " http://x "]) {
    assert.equal(followable(href), href.trim());
  }
  for (const href of ["javascript:alert(1)", " jAvascript:x", "vbscript:x", "data:text/html,x", "command:x", "#top", "//host/x", ""]) {
    assert.equal(followable(href), undefined, href);
  }
});
