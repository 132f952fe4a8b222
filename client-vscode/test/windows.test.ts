/** What differs on Windows, as far as it can be computed elsewhere. */
import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import { test } from "node:test";

import { candidate, isSamePath, relativeWithin, unsafeOnWindows } from "../src/agent/paths";
import { shellCall, shellFor } from "../src/agent/shell";
import { target } from "../src/chat/links";
import { plainWords } from "../src/permissions/words";
import { findOnPath, windowsProgram } from "../src/programs";
import { candidates } from "../src/server/python";

const POWERSHELL = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe";

test("PowerShell gets the command encoded, whatever quotes it has, and gives its exit code", () => {
  for (const shell of [POWERSHELL, "C:\\Program Files\\PowerShell\\7\\pwsh.exe"]) {
    const { file, args, isVerbatim } = shellCall("Get-Item \"a b\" | % { $_.Name } # ünï", shell, "win32", {});
    assert.deepEqual([file, isVerbatim, args.slice(0, -1)], [shell, false, ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"]]);
    const script = Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le");
    assert.match(script, /\nGet-Item "a b" \| % \{ \$_\.Name \} # ünï\n\$coppiceDone = \$\?;.*exit \$LASTEXITCODE/);
  }
});

test("cmd gets one line, verbatim in one pair of quotes, and is the shell where no other is known", () => {
  const environment = { ComSpec: "C:\\Windows\\system32\\cmd.exe" };
  for (const shell of [undefined, "C:\\WINDOWS\\System32\\CMD.EXE", "C:\\tools\\nu.exe"]) {
    const { file, args, isVerbatim } = shellCall("echo \"a b\" && dir ", shell, "win32", environment);
    assert.deepEqual([file.toLowerCase(), isVerbatim, args], ["c:\\windows\\system32\\cmd.exe", true, ["/d", "/s", "/c", "\"chcp 65001>nul & echo \"a b\" && dir\""]]);
  }
  assert.equal(shellCall("dir", "cmd.exe", "win32", { SystemRoot: "D:\\Windows" }).file, "D:\\Windows\\System32\\cmd.exe", "a name alone could be a file of the checkout");
  assert.equal(windowsProgram("taskkill.exe", {}), "C:\\Windows\\System32\\taskkill.exe");
  assert.throws(() => shellCall("echo one\r\necho two", undefined, "win32", {}), /one line/);
});

test("Git's bash is used as elsewhere, and the model is given the shell that runs", () => {
  const bash = "C:\\Program Files\\Git\\bin\\bash.exe";
  assert.deepEqual(shellCall("ls", bash, "win32", {}), { file: bash, args: ["-c", "ls"], isVerbatim: false });
  assert.deepEqual(shellCall("ls", "/usr/bin/nu", "linux", {}), { file: "/bin/sh", args: ["-c", "ls"], isVerbatim: false });
  assert.deepEqual([POWERSHELL, bash, "C:\\x\\nu.exe", ""].map((shell) => shellFor(shell, "win32")), ["powershell", "bash", "cmd", "cmd"]);
});

test("a path is in a folder whatever its case, and not on another drive or share", () => {
  const within = (folder: string, path: string) => relativeWithin(folder, path, win32);
  assert.equal(within("C:\\work\\shop", "c:\\Work\\shop\\src\\a.ts"), "src/a.ts");
  assert.equal(within("C:\\work\\shop", "C:\\work\\shop"), "");
  assert.equal(within("\\\\server\\share\\shop", "\\\\SERVER\\share\\shop\\a"), "a");
  for (const outside of ["C:\\work\\shopping\\a", "C:\\work", "D:\\work\\shop\\a", "\\\\server\\share\\work\\shop", "\\\\?\\C:\\work\\other"]) {
    assert.equal(within("C:\\work\\shop", outside), undefined, outside);
  }
  assert.equal(within("C:\\work\\shop", "C:\\work\\shop\\..a"), "..a");
});

test("a file is the same however its drive, its share and its separators are written", () => {
  for (const [one, other] of [["c:\\shop\\a.ts", "C:\\Shop\\A.ts"], ["C:\\shop\\a.ts", "C:/shop/src/../a.ts"], ["\\\\server\\share\\a", "\\\\SERVER\\Share\\a"]] as const) {
    assert.ok(isSamePath(one, other, win32), one);
  }
  for (const [one, other] of [["C:\\work\\a.ts", "D:\\work\\a.ts"], ["C:\\work\\a.ts", "C:\\work\\a.tsx"], ["\\\\server\\share\\a", "\\\\server\\other\\a"], ["\\\\server\\share\\a", "C:\\share\\a"]] as const) {
    assert.ok(!isSamePath(one, other, win32), one);
  }
  assert.deepEqual([isSamePath("/garden/a", "/garden/A", posix), isSamePath("/garden/a", "/garden/b/../a", posix)], [false, true]);
});

test("what a model writes is a path of the first folder, also of its drive or share, or of the folder that it names", () => {
  const place = (path: string, ...folders: string[]) => candidate(folders, path, win32);
  assert.equal(place("src/a.ts", "D:\\shop"), "D:\\shop\\src\\a.ts");
  assert.equal(place("\\shop\\a.ts", "D:\\shop"), "D:\\shop\\a.ts");
  assert.equal(place("/etc/hosts", "\\\\server\\share\\shop"), "\\\\server\\share\\etc\\hosts");
  assert.equal(place("E:/a.ts", "D:\\shop"), "E:\\a.ts");
  assert.equal(place("Tools/run.ts", "D:\\shop", "E:\\tools"), "E:\\tools\\run.ts");
  assert.equal(place("tools\\run.ts", "D:\\shop", "E:\\tools"), "E:\\tools\\run.ts");
  assert.equal(place("/tools/run.ts", "D:\\shop", "E:\\tools"), "D:\\tools\\run.ts");
  assert.equal(candidate(["/garden/shop", "/garden/tools"], "Tools/run.ts", posix), "/garden/shop/Tools/run.ts");
});

test("a link leads to a file on the folder's drive or share, whatever its case, and nowhere else", () => {
  const path = (href: string, ...folders: string[]) => target(href, folders, true);
  assert.deepEqual(path("c:\\Orchard\\a.py:3", "C:\\orchard"), { kind: "file", path: "c:\\Orchard\\a.py", line: 3 });
  assert.deepEqual(path("src\\a.py:3", "C:\\orchard"), { kind: "file", path: "C:\\orchard\\src\\a.py", line: 3 });
  assert.deepEqual(path("src/a.py", "\\\\server\\share\\orchard"), { kind: "file", path: "\\\\server\\share\\orchard\\src\\a.py" });
  for (const href of ["file://server/share/orchard/src/a.py:3", "\\\\SERVER\\Share\\orchard\\src\\a.py:3", "//server/share/orchard/src/a.py:3"]) {
    const place = path(href, "\\\\server\\share\\orchard");
    assert.ok(place?.kind === "file" && isSamePath(place.path, "\\\\server\\share\\orchard\\src\\a.py", win32) && place.line === 3, href);
    assert.equal(path(href, "\\\\server\\share\\other"), undefined);
  }
  assert.equal(target("file://server/share/orchard/a.py", ["/share/orchard"], false), undefined);
  assert.deepEqual(path("/orchard/a.py", "D:\\orchard"), { kind: "file", path: "D:\\orchard\\a.py" });
  for (const href of ["..\\secret", "C:\\orchards\\a", "C:\\orchard", "D:a.py", "\\\\?\\C:\\orchard\\a", "\\\\server\\c$\\orchard\\a", "file://server/share/a"]) assert.equal(path(href, "C:\\orchard"), undefined, href);
});

test("the server's program is looked for as coppice.exe, in folders of the PATH with a drive or a share", async () => {
  const asked: string[] = [];
  const isExecutable = (file: string) => {
    asked.push(file);
    return Promise.resolve(file.startsWith("\\\\") || file.includes("SHOP"));
  };
  const system = { platform: "win32" as const, isExecutable, realpath: (file: string) => Promise.resolve(file), checkoutOf: () => Promise.resolve(undefined) };
  assert.equal(await findOnPath("coppice", "bin;.;C:\\Python312\\Scripts;c:\\SHOP\\bin;\\\\server\\share\\bin;D:\\x", ["C:\\shop"], system), "\\\\server\\share\\bin\\coppice.exe");
  assert.deepEqual(asked, ["C:\\Python312\\Scripts\\coppice.exe", "c:\\SHOP\\bin\\coppice.exe", "\\\\server\\share\\bin\\coppice.exe", "D:\\x\\coppice.exe"]);
});

test("names that Windows takes for another file or a device are refused", () => {
  for (const path of [".git./config", ".env ", "a.txt:stream", "src\\.vscode.\\tasks.json", "NUL", "src/con.txt", "COM1", "lpt9.log", "COM¹", "lpt².txt", "CONIN$", "conout$.a", "con .txt", "C:a.txt", "\\\\.\\PhysicalDrive0", "\\\\?\\C:\\shop\\a"]) {
    assert.ok(unsafeOnWindows(path), path);
  }
  for (const path of ["C:\\shop\\a.txt", "src/a.ts", "../a", "./a", ".env", "console.ts", "com.ts", "conin", "com¹a.ts", "a b/c", "\\\\server\\share\\a"]) assert.ok(!unsafeOnWindows(path), path);
});

test("Python is found as python.exe in folders of the PATH, then by the launcher, and never in a checkout", async () => {
  const files = new Set(["C:\\Python312\\python.exe", "C:\\shop\\bin\\python.exe", "C:\\Windows\\py.exe"]);
  const asked: string[][] = [];
  const system = {
    platform: "win32" as const,
    isExecutable: (file: string) => Promise.resolve(files.has(file)),
    realpath: (file: string) => Promise.resolve(file),
    checkoutOf: () => Promise.resolve(undefined),
    run: (file: string, args: string[]) => {
      asked.push([file, ...args.slice(0, 2)]);
      return Promise.resolve("C:\\Users\\ada\\Python313\\python.exe\r\n");
    },
  };
  files.add("C:\\shop\\..bin\\python.exe");
  const path = "bin;C:\\shop\\bin;C:\\shop\\..bin;C:\\Python312;C:\\Windows";
  assert.deepEqual(await candidates(path, ["D:\\py\\python.exe"], ["c:\\Shop"], system), ["C:\\Python312\\python.exe", "C:\\Users\\ada\\Python313\\python.exe", "D:\\py\\python.exe"]);
  assert.deepEqual(asked, [["C:\\Windows\\py.exe", "-3", "-I"]]);
  assert.deepEqual(await candidates(path, [], ["C:\\shop", "C:\\Windows"], { ...system, run: () => Promise.reject(new Error("no")) }), ["C:\\Python312\\python.exe"]);
});

test("a rule reads no quoted words where a shell of Windows could read them in another way", () => {
  assert.deepEqual(plainWords("npm test a", true), ["npm", "test", "a"]);
  for (const line of ["npm test 'a & id'", "npm test \"a\"", "npm test ^& id", "npm test %PATH%", "npm test `id`", "npm test $(id)", "npm test; id"]) assert.equal(plainWords(line, true), undefined, line);
});
