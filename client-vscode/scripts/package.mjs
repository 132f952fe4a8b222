// Makes coppice-<version>.vsix: the bundles, and the server as a wheel. PYTHON names the Python that builds the
// wheel; pip and its build backend come from the index that pip is set up with.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createVSIX } from "@vscode/vsce";

const python = process.env.PYTHON ?? "python3";
const run = (command, ...given) => execFileSync(command, given, { stdio: "inherit" });

rmSync("dist", { recursive: true, force: true });
run(process.execPath, "scripts/build.mjs");
mkdirSync("dist/server", { recursive: true });
run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist/server", "..");
copyFileSync("../LICENSE", "dist/LICENSE");
await createVSIX({ dependencies: false, allowMissingRepository: true, skipLicense: true, rewriteRelativeLinks: false });
