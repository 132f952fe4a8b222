import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Installation } from "../src/server/installation";
import { ProcessError, run } from "../src/server/processes";
import { candidates, isNewEnough, usablePython } from "../src/server/python";

/** A wheel whose program `coppice` says which version it is, and that depends on nothing. */
const MAKE_WHEEL = `
import sys, zipfile
folder, version, printed = sys.argv[1:]
info = f"coppice_lsp-{version}.dist-info"
with zipfile.ZipFile(f"{folder}/coppice_lsp-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr("small.py", f"def main():\\n    print('coppice {printed}')\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: coppice-lsp\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\ncoppice = small:main\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

let scratch: string;
let python: string;

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), "coppice-"));
  const program = await usablePython(await candidates(process.env["PATH"], [], []));
  assert.ok(program, "a Python 3.11 with venv is needed");
  python = program;
});
after(() => rm(scratch, { recursive: true }));

async function wheel(version: string, printed = version): Promise<string> {
  await run(python, ["-c", MAKE_WHEEL, scratch, version, printed]);
  return join(scratch, `coppice_lsp-${version}-py3-none-any.whl`);
}

test("what was installed runs, until the extension brings another version", async () => {
  const root = join(scratch, "installed");
  const first = new Installation(root, await wheel("1.0"));
  assert.equal(await first.program(), undefined);
  assert.equal(await first.isAnother(), false);

  const program = await first.install(python);
  assert.equal(await run(program, []), "coppice 1.0");
  assert.equal(await first.program(), program);

  const next = new Installation(root, await wheel("2.0"));
  assert.equal(await next.program(), undefined);
  assert.equal(await next.isAnother(), true);
});

test("a server that is another than expected is not used", async () => {
  const installation = new Installation(join(scratch, "wrong"), await wheel("3.0", "0.1"));
  await assert.rejects(installation.install(python), /says it is coppice 0.1/);
  assert.equal(await installation.program(), undefined);
  assert.deepEqual(await readdir(installation.root), []);
});

test("an installation that is stopped leaves nothing", async () => {
  const installation = new Installation(join(scratch, "stopped"), await wheel("4.0"));
  const stopping = new AbortController();
  const reason = new Error("stopped");
  const onLine = () => { stopping.abort(reason); };
  await assert.rejects(installation.install(python, { onLine, signal: stopping.signal }), reason);
  assert.deepEqual(await readdir(installation.root), []);
});

test("the error of a program that fails has its last output", async () => {
  const failing = run(python, ["-c", "import sys; print('why'); sys.exit(3)"]);
  await assert.rejects(failing, (error) => error instanceof ProcessError && error.output === "why");
});

test("a Python inside the workspace is not run", async () => {
  const bin = join(python, "..");
  const all = await candidates(bin, [], []);
  assert.ok(all.includes(python));
  assert.deepEqual(await candidates(bin, [join(bin, "python9")], [bin]), []);
  assert.ok((await stat(python)).isFile());
});

test("versions are compared as numbers", () => {
  const tried = ["3.9", "3.10", "3.11", "3.20", "4.0", ""].map((version) => isNewEnough(version));
  assert.deepEqual(tried, [false, false, true, true, true, false]);
});
