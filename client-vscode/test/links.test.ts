import assert from "node:assert/strict";
import { test } from "node:test";

import { target } from "../src/chat/links";
import { atPlaces, followable, isPlace } from "../webview/markdown/links";

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
  assert.deepEqual(target("C:%5Corchard%5Ca%20b.py", folders, true), { kind: "file", path: "C:\\orchard\\a b.py" }, "as Markdown writes an address");
  for (const outside of ["D:\\orchard\\a.py", "C:%5Cother%5Ca.py", "C:%5Corchard%5C..%5Cother", "C:orchard", "C:%2Forchard%2Fa.py", "x:%5Ca"]) assert.equal(target(outside, folders, true), undefined, outside);
  for (const drive of ["C:\\orchard\\a.py", "C:%5Corchard%5Ca.py", "c:/orchard/a.py"]) assert.equal(target(drive, FOLDERS, false), undefined, drive);
  assert.equal(target("\\\\host\\share\\a.py", folders, true), undefined);
});

test("the page shows no link for what could not be followed", () => {
  for (const href of ["C:\\shop\\a.py", "c:/shop/a.py:5", "C:%5Cshop%5Ca.py", "src\\a.py:5", "https://example.org", "src/a.py", "src/a.py:5", "a.py:5", "a.py:5-9", "file:///a", "/abs", " http://x "]) {
    assert.equal(followable(href), href.trim());
  }
  for (const href of ["C:", "C:a.py", "C:%2Fa.py", "x:y", "javascript:\\a", "javascript:alert(1)", " jAvascript:x", "vbscript:x", "data:text/html,x", "command:x", "javascript:1;alert(1)", "#top", "//host/x", ""]) {
    assert.equal(followable(href), undefined, href);
  }
});

test("a file's place is seen in code, and in prose where it names a folder", () => {
  for (const code of ["src/lines.py:12", "lines.py:12", "src/lines.py:12:4", "src/lines.py:12-20", "a-b/@c/d.test.ts:1", "C:\\shop\\a.py:12", "c:/shop/a.py:12:4", "src\\a.py:3"]) assert.ok(isPlace(code), code);
  for (const code of ["lines.py", "12:30", "localhost:8080", "a b.py:1", "lines.py:", "std::vec:1", "https://a/b.py:1", "C:a.py:1", "\\\\host\\a.py:1", "C:\\\\a.py:1"]) assert.ok(!isPlace(code), code);
  assert.deepEqual(atPlaces("See src/lines.py:12, (lib/a.ts:3:4) and src/b.py:5: error."), ["See ", "src/lines.py:12", ", (", "lib/a.ts:3:4", ") and ", "src/b.py:5", ": error."]);
  assert.deepEqual(atPlaces("See C:\\shop\\a.py:12, (lib\\a.ts:3) and d:/b.py:5."), ["See ", "C:\\shop\\a.py:12", ", (", "lib\\a.ts:3", ") and ", "d:/b.py:5", "."]);
  for (const prose of ["\\\\host\\src\\a.py:1", "x\\C:\\a.py:1", "C:a.py:1", "At example.org:443.", "https://example.org/a.py:1", "~/src/a.py:1", "src/a.py:1x"]) assert.deepEqual(atPlaces(prose), [prose]);
});

test("long text without a place is read to its end", { timeout: 5000 }, () => {
  for (const piece of ["a\\", "C:\\", "C:\\a", "a\\/", "a/", "a.", "a", "a/a.b:", "-@"]) assert.equal(atPlaces(piece.repeat(200_000)).length, 1, piece);
});
