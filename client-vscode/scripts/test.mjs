// Bundles each test and runs them with Node's own test runner; what follows on the command line goes to it.
// With --browser it is those of the Chat view's page, with --benchmark those that print how long things take in it; both
// need the bundles of `npm run build`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const given = process.argv.slice(2);
const inBrowser = given[0] === "--browser" || given[0] === "--benchmark";
const ending = inBrowser ? `.${given.shift().slice(2)}.ts` : ".test.ts";
const tests = readdirSync("test", { recursive: true }).filter((name) => name.endsWith(ending));
// Below node_modules, so that packages which are not bundled are found.
const output = mkdtempSync(join("node_modules", ".coppice-test-"));

await build({
  entryPoints: tests.map((name) => join("test", name)),
  outbase: "test",
  outdir: output,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  nodePaths: ["node_modules"], // for docs/examples
  alias: { vscode: "./test/agent/vscode.ts" },
  packages: inBrowser ? "external" : "bundle",
  format: "cjs",
  target: "es2023",
  sourcemap: "inline",
  logLevel: "warning",
});
const bundles = tests.map((name) => join(output, name.replace(/\.ts$/, ".cjs")));
// By default Node leaves one core idle, of two that is half.
// The limit is that of a whole file, and long: on a busy machine everything takes long.
const options = [`--test-concurrency=${availableParallelism()}`, "--test-timeout=600000"];
const ran = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", ...options, ...given, ...bundles],
  { stdio: "inherit" },
);
rmSync(output, { recursive: true });
process.exit(ran.status ?? 1);
