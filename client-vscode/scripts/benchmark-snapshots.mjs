// What a recorded state costs: 10,000 files and 1 GB of ignored ones, against `git status` of the same folder in the
// same run. By hand: node scripts/benchmark-snapshots.mjs
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const FILES = 10_000;
const CHANGED = 20;
const RUNS = 7;

const root = realpathSync(mkdtempSync(join(tmpdir(), "coppice-benchmark-")));
const folder = join(root, "shop");
const output = mkdtempSync(join("node_modules", ".coppice-benchmark-"));
try {
  await build({ entryPoints: ["src/snapshots/store.ts"], outfile: join(output, "store.mjs"), bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  const { LIMITS, SnapshotStore } = await import(pathToFileURL(join(process.cwd(), output, "store.mjs")).href);
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
  const git = (...given) => execFileSync("git", ["-C", folder, "-c", "user.name=u", "-c", "user.email=u@example.org", ...given]);
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "All.");
  const before = statSync(join(ignored, "7"));

  const store = new SnapshotStore(join(root, "storage"), folder, LIMITS);
  const times = { first: [await timed(() => store.take("c"))], unchanged: [], changed: [], status: [] };
  for (let run = 0; run < RUNS; run += 1) {
    times.unchanged.push(await timed(() => store.take("c")));
    for (let at = 0; at < CHANGED; at += 1) writeFileSync(join(folder, `d${at}`, `f${at}.py`), `run = ${run}\n`);
    times.changed.push(await timed(() => store.take("c")));
    times.status.push(await timed(() => git("status", "--porcelain")));
  }
  const after = statSync(join(ignored, "7"));
  if (before.mtimeMs !== after.mtimeMs || before.atimeMs !== after.atimeMs) throw new Error("An ignored file was touched.");
  const median = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, all.sort((one, other) => one - other)[all.length >> 1]]));
  for (const [name, ms] of Object.entries(median)) console.log(`${name.padEnd(10)}${ms.toFixed(0).padStart(7)} ms${(ms / median.status).toFixed(1).padStart(8)} × git status`);
} finally {
  rmSync(root, { recursive: true, force: true });
  rmSync(output, { recursive: true, force: true });
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
