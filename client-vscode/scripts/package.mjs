// Makes coppice-<version>.vsix: the bundles, and the server as a wheel. PYTHON names the Python that builds the
// wheel; pip and its build backend come from the index that pip is set up with. The package names the checkout's
// remote `origin` as its repository; without one it names none, and its pictures are shown by editors alone.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createVSIX } from "@vscode/vsce";
import { repositoryOf } from "./repository.mjs";

const python = process.env.PYTHON ?? "python3";
const run = (command, ...given) => execFileSync(command, given, { stdio: "inherit" });

rmSync("dist", { recursive: true, force: true });
run(process.execPath, "scripts/build.mjs");
mkdirSync("dist/server", { recursive: true });
run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist/server", "..");

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const repository = repositoryOf(origin());
if (repository === undefined) console.log("The checkout has no public remote `origin`: the package names no repository.");

const staged = mkdtempSync(join(tmpdir(), "coppice-package-"));
try {
  for (const name of ["README.md", "CHANGELOG.md", "api.d.ts", "src/protocol.gen.ts", "dist", "media", ".vscodeignore"]) {
    cpSync(name, join(staged, name), { recursive: true });
  }
  copyFileSync("../LICENSE", join(staged, "LICENSE"));
  writeFileSync(join(staged, "package.json"), JSON.stringify({ ...manifest, ...repository?.manifest }, undefined, 2));
  await createVSIX({
    cwd: staged,
    packagePath: resolve(`${manifest.name}-${manifest.version}.vsix`),
    dependencies: false,
    allowMissingRepository: repository === undefined,
    rewriteRelativeLinks: repository?.links !== undefined,
    ...repository?.links,
  });
} finally {
  rmSync(staged, { recursive: true });
}

/** The address of the remote, or nothing: this may be no checkout. */
function origin() {
  try {
    return execFileSync("git", ["remote", "get-url", "origin"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}
