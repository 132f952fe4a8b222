/**
 * Random edits by an agent, its commands and the user, and random switches among recorded states, in a hostile checkout.
 * COPPICE_LABORATORY_SECONDS says how long (20), COPPICE_LABORATORY_SEED where to begin.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { SnapshotStore } from "../../src/snapshots/store";
import { WorkspaceSnapshots } from "../../src/snapshots/workspace";
import { isBeside } from "../../src/snapshots/write";
import { randomFrom } from "../random";

const SECONDS = Number(process.env["COPPICE_LABORATORY_SECONDS"] ?? 20);
const FIRST_SEED = Number(process.env["COPPICE_LABORATORY_SEED"] ?? Math.floor(Math.random() * 1e6));
const LIMITS = { file: 100_000, added: 10_000_000, files: 10_000, time: 60_000 };
/** Milliseconds that a snapshot may take, however busy the machine is. */
const PATIENCE = 120_000;
const ROUNDS = 14;
/** Names of the agent's files. */
const NAMES = ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.bin", "new\nline.txt", "-x", "tab\t.txt", "Readme", "README", "Sub/c.txt", "ü", "u\u0308", "place", "place/in", "link"];
/** What only the user edits, besides lines in the agent's files. */
const OWN = ["own.txt", "notes/own.md"];
const LINES = Array.from({ length: 40 }, (_, at) => `line ${at}\n`);

type Files = Map<string, string>;

class Laboratory {
  readonly folder: string;
  readonly storage: string;
  readonly snapshots: WorkspaceSnapshots;
  readonly warnings: string[] = [];

  constructor(readonly root: string) {
    this.folder = join(root, "shop");
    this.storage = join(root, "storage");
    this.snapshots = new WorkspaceSnapshots(this.storage, { folders: [this.folder], isTrusted: true, isUnsaved: () => false, warn: (message) => this.warnings.push(message) }, LIMITS, PATIENCE);
  }

  async prepare(): Promise<void> {
    const git = (...given: string[]) => execFileSync("git", ["-C", this.folder, "-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "protocol.file.allow=always", ...given]);
    const library = join(this.root, "library");
    await mkdir(this.folder);
    git("init", "-q");
    git("init", "-q", library);
    await writeFile(join(library, "of.txt"), "theirs");
    git("-C", library, "add", ".");
    git("-C", library, "commit", "-qm", "A library.");
    git("submodule", "--quiet", "add", library, "module");
    await this.write("module/own.txt", "not committed");
    await this.write("a.txt", LINES.join(""));
    await this.write("b.txt", LINES.join(""));
    await this.write(".gitignore", "ignored/\n*.log\n");
    git("add", ".");
    git("commit", "-qm", "First.");
    const evil = `touch ${join(this.root, "ran")}; cat`;
    for (const name of ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "merge.evil.driver", "core.fsmonitor", "core.hooksPath"]) git("config", name, evil);
    await this.write(".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf\n");
    for (const [name, text] of Object.entries({ "ignored/big": "i", "sub/x.log": "i", "inner/file": "s", "cache.git/HEAD": "ref: x\n", "cache.git/config": "x", ".env": "SECRET" })) await this.write(name, text);
    execFileSync("git", ["-C", join(this.folder, "inner"), "init", "-q"]);
    await this.write("huge", "");
    await truncate(join(this.folder, "huge"), 2 ** 31);
    await writeFile(join(this.root, "outside"), "theirs");
    await symlink("../outside", join(this.folder, "out"));
  }

  async write(path: string, content: string | Buffer): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), content);
  }

  /** What a snapshot has to hold, each file with its bytes, or where a link leads. */
  async files(): Promise<Files> {
    const files: Files = new Map();
    for (const entry of await readdir(this.folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(this.folder.length + 1);
      if (/^(?:\.git|ignored|inner|module|cache\.git|huge|\.env)(?:\/|$)|\.log$/.test(name)) continue;
      if (entry.isSymbolicLink()) files.set(name, `-> ${await readlink(path)}`);
      else if (entry.isFile()) files.set(name, (await readFile(path)).toString("base64"));
    }
    return files;
  }

  async take(): Promise<string> {
    const state = await this.snapshots.take("c");
    assert.ok(state !== undefined, this.warnings.join());
    return state;
  }

  /** Everything that no snapshot may touch. */
  async untouched(): Promise<string> {
    const hash = createHash("sha256");
    for (const name of [".git", "ignored", "inner", "module", "cache.git"]) {
      for (const entry of (await readdir(join(this.folder, name), { recursive: true, withFileTypes: true })).sort((one, other) => (one.parentPath + one.name < other.parentPath + other.name ? -1 : 1))) {
        const path = join(entry.parentPath, entry.name);
        hash.update(path);
        if (entry.isFile()) hash.update(await readFile(path));
      }
    }
    for (const path of [join(this.folder, ".env"), join(this.folder, "sub/x.log"), join(this.root, "outside")]) hash.update(await readFile(path));
    return `${hash.digest("hex")} ${(await lstat(join(this.folder, "huge"))).size} ${existsSync(join(this.root, "ran"))}`;
  }

  /** Makes the locks of Git that was killed as old as no command gets. */
  async ageLocks(): Promise<void> {
    const longAgo = new Date(Date.now() - 2 * LIMITS.time);
    for (const entry of await readdir(this.storage, { recursive: true, withFileTypes: true })) {
      if (entry.name.endsWith(".lock")) await utimes(join(entry.parentPath, entry.name), longAgo, longAgo);
    }
  }

  /** An edit of the agent's, by a tool or by a command. */
  async edit(random: (end: number) => number, mark: string): Promise<void> {
    const name = NAMES[random(NAMES.length)] ?? "";
    const path = join(this.folder, name);
    const text = await readFile(path, "utf8").catch(() => undefined);
    const kind = random(6);
    // A file takes the place of a folder, and a folder that of a file.
    if (name === "place/in" && (await lstat(join(this.folder, "place")).catch(() => undefined))?.isFile() === true) await rm(join(this.folder, "place"));
    if (kind === 0 || name === "link" || (await lstat(path).catch(() => undefined))?.isDirectory() === true) await rm(path, { recursive: true, force: true });
    if (kind === 0) return;
    if (name === "link") await symlink(["a.txt", "..", "/nowhere"][random(3)] ?? "", path);
    else if (name.endsWith(".bin") || kind === 1) await this.write(name, Buffer.from(Array.from({ length: random(300) }, () => random(256))));
    else await this.write(name, (text ?? LINES.join("")).replace(`line ${random(40)}\n`, `${mark}\n`));
  }

  /** An edit of the user's: a line that is nowhere else. Undefined where there was no place for it. */
  async editOwn(random: (end: number) => number, mark: string): Promise<string | undefined> {
    const name = random(2) === 0 ? OWN[random(OWN.length)] ?? "" : NAMES[random(3)] ?? "";
    const text = (await readFile(join(this.folder, name), "utf8").catch(() => undefined)) ?? (OWN.includes(name) ? "" : undefined);
    if (text === undefined || text.includes("\ufffd")) return undefined;
    const lines = text.split("\n");
    lines.splice(random(lines.length + 1), 0, mark);
    await this.write(name, lines.join("\n"));
    return mark;
  }

  /** Whether a line of the user's is on the disk. */
  async has(mark: string): Promise<boolean> {
    return [...(await this.files()).values()].some((content) => Buffer.from(content, "base64").includes(mark));
  }
}

async function play(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const laboratory = new Laboratory(await realpath(await mkdtemp(join(tmpdir(), "coppice-laboratory-"))));
  try {
    await laboratory.prepare();
    const untouched = await laboratory.untouched();
    let base = await laboratory.take();
    const states = new Map([[base, await laboratory.files()]]);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let edits = random(4); edits > 0; edits -= 1) await laboratory.edit(random, `agent ${seed} ${round} ${edits}`);
      base = await laboratory.take();
      states.set(base, await laboratory.files());
      const mine: string[] = [];
      for (let edits = random(3); edits > 0; edits -= 1) mine.push(...[await laboratory.editOwn(random, `user ${seed} ${round} ${edits}`)].filter((mark) => mark !== undefined));
      const before = await laboratory.files();
      const target = [...states.keys()][random(states.size)] ?? base;
      const way = random(5);
      if (way === 0) {
        base = target; // The conversation alone goes there.
      } else {
        const { steps, now } = await laboratory.snapshots.plan("c", base, target);
        const left = way === 1 ? random(steps.length + 1) : steps.length;
        await laboratory.snapshots.write("c", steps.slice(0, left));
        if (left < steps.length) {
          // It was ended in the middle, and is gone on with or undone in another window.
          const isUndone = random(2) === 0;
          const rest = await laboratory.snapshots.plan("c", ...(isUndone ? [target, now] as const : [base, target] as const));
          await laboratory.snapshots.write("c", rest.steps);
          if (isUndone) assert.deepEqual(await laboratory.files(), before, "an undone switch");
          else base = target;
        } else {
          base = target;
        }
        if (mine.length === 0 && base === target && steps.every(({ fate }) => fate !== "conflict")) assert.deepEqual(await laboratory.files(), states.get(target), "a switch without edits of the user's");
      }
      for (const mark of mine) assert.ok(await laboratory.has(mark), `${mark} is lost`);
    }
    for (const [state, files] of states) assert.deepEqual(await contents(laboratory, state), files, "a recorded state");
    assert.equal(await laboratory.untouched(), untouched);
    assert.deepEqual(laboratory.warnings, []);
  } finally {
    await rm(laboratory.root, { recursive: true, force: true });
  }
}

async function contents({ storage, folder }: Laboratory, state: string): Promise<Files> {
  const store = new SnapshotStore(storage, folder, LIMITS);
  const files: Files = new Map();
  for (const [path, file] of await store.files(state.split(":")[1] ?? "")) {
    if (file.mode === "160000") continue;
    const bytes = await store.content(file);
    files.set(path, file.mode === "120000" ? `-> ${bytes.toString()}` : bytes.toString("base64"));
  }
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** In a process of its own: edits and records without end. */
async function playUntilKilled(root: string): Promise<void> {
  const laboratory = new Laboratory(root);
  const random = randomFrom(FIRST_SEED);
  let base = await laboratory.take();
  process.stdout.write(`${base}\n`);
  for (let round = 0; ; round += 1) {
    for (let at = 0; at < 20; at += 1) {
      // Whole at any moment, so that a file that is not is one that a snapshot wrote.
      await writeFile(join(root, "pending"), `${round} ${at}\n`.repeat(100));
      await mkdir(join(laboratory.folder, "many"), { recursive: true });
      await rename(join(root, "pending"), join(laboratory.folder, `many/${random(100)}`));
    }
    const state = await laboratory.take();
    process.stdout.write(`${state}\n`);
    const { steps } = await laboratory.snapshots.plan("c", state, base);
    await laboratory.snapshots.write("c", steps);
    base = state;
  }
}

if (process.env["COPPICE_LABORATORY_CHILD"] !== undefined) {
  void playUntilKilled(process.env["COPPICE_LABORATORY_CHILD"]);
} else {
  test(`random edits and switches: every state comes back byte for byte, nothing of the user's is lost (seed ${FIRST_SEED})`, { timeout: (SECONDS + 500) * 1000 }, async () => {
    const until = Date.now() + SECONDS * 1000;
    let seed = FIRST_SEED;
    do {
      await play(seed).catch((error: unknown) => { throw new Error(`With COPPICE_LABORATORY_SEED=${seed}`, { cause: error }); });
      seed += 1;
    } while (Date.now() < until);
    console.log(`Laboratory of snapshots: seeds ${FIRST_SEED} to ${seed - 1}`);
  });

  test("a process that is killed in the middle leaves whole files and a store that goes on", async () => {
    const laboratory = new Laboratory(await realpath(await mkdtemp(join(tmpdir(), "coppice-laboratory-"))));
    try {
      await laboratory.prepare();
      const untouched = await laboratory.untouched();
      for (const pause of [700, 1500]) {
        const child = spawn(process.execPath, [__filename], { env: { ...process.env, COPPICE_LABORATORY_CHILD: laboratory.root, NODE_TEST_CONTEXT: undefined }, stdio: ["ignore", "pipe", "inherit"], detached: true });
        const ended = once(child, "close"); // When Git that it started has ended too.
        let printed = "";
        child.stdout.on("data", (data: Buffer) => { printed += data.toString(); });
        while (!printed.includes("\n")) {
          assert.equal(child.exitCode, null, "it has ended by itself");
          await sleep(50);
        }
        await sleep(pause);
        process.kill(-(child.pid ?? assert.fail("It was not started")), "SIGKILL");
        await ended;
        await laboratory.ageLocks();
        // What a kill leaves beside a file is recorded in no state.
        const files = new Map([...(await laboratory.files())].filter(([path]) => !isBeside(path)));
        for (const [path, content] of files) {
          if (!path.startsWith("many/")) continue;
          assert.equal(Buffer.from(content, "base64").toString().split("\n").length, 101, path);
        }
        const state = await laboratory.take();
        assert.deepEqual(await contents(laboratory, state), files);
        for (const recorded of printed.trim().split("\n")) await laboratory.snapshots.plan("c", state, recorded);
      }
      assert.equal(await laboratory.untouched(), untouched);
    } finally {
      await rm(laboratory.root, { recursive: true, force: true });
    }
  });
}
