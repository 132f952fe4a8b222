// What a recorded state of 10,000 files and 1 GB of ignored ones costs, against `git add` and `git status` of the same
// folder in the same run: node tests/benchmarks/workspace_states.mjs
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const FILES = 10_000;
const CHANGED = 20;
const RUNS = 7;
const FIRST_RUNS = 3;

const client = fileURLToPath(new URL("../../client-vscode", import.meta.url));
const { build } = createRequire(join(client, "package.json"))("esbuild");
const root = realpathSync(mkdtempSync(join(tmpdir(), "coppice-benchmark-")));
const folder = join(root, "shop");
const git = (directory, ...given) => execFileSync("git", ["-C", folder, `--git-dir=${directory}`, `--work-tree=${folder}`, ...given]);
try {
  const bundle = join(root, "store.mjs");
  await build({ entryPoints: [join(client, "src/snapshots/store.ts")], outfile: bundle, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  const { LIMITS, SnapshotStore } = await import(pathToFileURL(bundle).href);
  for (let at = 0; at < FILES; at += 1) {
    const file = join(folder, `d${at % 200}`, `f${at}.py`);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `def f${at}():\n    return ${at}\n`.repeat(40));
  }
  const ignored = join(folder, "ignored");
  mkdirSync(ignored);
  for (let at = 0; at < 1000; at += 1) {
    writeFileSync(join(ignored, String(at)), "");
    truncateSync(join(ignored, String(at)), 2 ** 20);
  }
  writeFileSync(join(folder, ".gitignore"), "ignored/\n");
  const before = statSync(join(ignored, "7"));

  const times = { "first": [], "git add": [], "first, read ahead": [], "unchanged": [], [`${CHANGED} changed`]: [], "git status": [] };
  let store;
  let peer;
  for (let run = 0; run < FIRST_RUNS; run += 1) {
    store = new SnapshotStore(join(root, `first${run}`), folder, LIMITS);
    times["first"].push(await timed(() => store.take("c")));
    peer = join(root, `peer${run}`);
    git(peer, "init", "-q");
    times["git add"].push(await timed(() => git(peer, "add", ".")));
    const other = new SnapshotStore(join(root, `ahead${run}`), folder, LIMITS);
    await other.readAhead();
    times["first, read ahead"].push(await timed(() => other.take("c")));
  }
  for (let run = 0; run < RUNS; run += 1) {
    times["unchanged"].push(await timed(() => store.take("c")));
    for (let at = 0; at < CHANGED; at += 1) writeFileSync(join(folder, `d${at}`, `f${at}.py`), `run = ${run}\n`);
    times[`${CHANGED} changed`].push(await timed(() => store.take("c")));
    times["git status"].push(await timed(() => git(peer, "status", "--porcelain")));
  }
  const after = statSync(join(ignored, "7"));
  if (before.mtimeMs !== after.mtimeMs || before.atimeMs !== after.atimeMs) throw new Error("An ignored file was touched.");
  const median = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, all.sort((one, other) => one - other)[all.length >> 1]]));
  for (const [name, ms] of Object.entries(median)) {
    const like = name === "first" || name === "git add" ? "git add" : "git status";
    console.log(`${name.padEnd(18)}${ms.toFixed(0).padStart(7)} ms${(ms / median[like]).toFixed(1).padStart(8)} × ${like}`);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
