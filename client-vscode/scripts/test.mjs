// Bundles each test and runs them with Node's own test runner; what follows on the command line goes to it.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const output = "dist/test";
const tests = readdirSync("test", { recursive: true }).filter((name) => name.endsWith(".test.ts"));

rmSync(output, { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => join("test", name)),
  outbase: "test",
  outdir: output,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "es2023",
  sourcemap: "inline",
  logLevel: "warning",
});
const bundles = tests.map((name) => join(output, name.replace(/\.ts$/, ".cjs")));
const ran = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", "--test-timeout=120000", ...process.argv.slice(2), ...bundles],
  { stdio: "inherit" },
);
process.exit(ran.status ?? 1);
