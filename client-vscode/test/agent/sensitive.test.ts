/** Files that hold secrets, are ignored, or make programs run: no tool touches them without a question. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { instructionsIn } from "../../src/agent/instructions";
import { Disk, hasRipgrep } from "./disk";

const skip = !hasRipgrep && "there is no ripgrep";
const REFUSED = { allowed: false as const, reason: "The user did not allow this." };
const SECRETS = [
  ".env", ".envrc", "deploy/hosts.yml", "prod.tfvars", "prod.auto.tfvars.json", "terraform.tfstate", ".vault-token",
  "gcp-service-account.json", "my_service_account_key.json", "application_default_credentials.json", ".ssh/known", ".kube/config", ".gnupg/x",
  ".claude/.credentials.json", "auth.json", ".dev.vars", ".yarnrc.yml", ".secrets", "secrets/db", "secret.py", "token.json", "client_secret_1.json",
  "local.settings.json", "rclone.conf", ".s3cfg", ".boto", ".env-prod",
  ".git/config", "sub/.git/config", "sub/.GIT/config", "sub/.git/modules/x/config", "lib/.git", "cache.git/config", "cache.git/hooks/update",
];
const IGNORED = ["debug.log", "build/out.txt", "build/deep/out.txt"];
const FILES = {
  ...Object.fromEntries([...SECRETS, ...IGNORED].map((path) => [`shop/${path}`, "needle\n"])),
  "shop/.gitignore": "build/\n*.log\n",
  "shop/cache.git/HEAD": "ref: refs/heads/main\n",
  "shop/src/a.py": "needle\n",
  "shop/src/b.ts": "needle\n",
};
const GLOBS = [undefined, "**", "*", ".git/**", "**/.git/**", "**/config", "*.log", "build/**", ".env*", "!x", "{.env,*.log,config,*.py}"];

for (const isTrusted of [true, false]) {
  test(`search shows no line that read_file asks about, whatever the glob, in a workspace that is ${isTrusted ? "" : "not "}trusted`, { skip }, async () => {
    await using disk = await Disk.with(FILES);
    disk.isTrusted = isTrusted;
    for (const glob of GLOBS) {
      const { text } = await disk.call("search", { pattern: "needle", ...(glob === undefined ? {} : { glob }) });
      const files = text.split("\n").map((line) => line.split(":")[0]);
      assert.deepEqual(files.filter((file) => !["src/a.py", "src/b.ts", "Nothing was found."].includes(file ?? "")), [], glob);
    }
    assert.deepEqual(disk.asked, []);
  });
}

test("no glob lists a file that is secret or ignored, and globs with braces still narrow", { skip }, async () => {
  await using disk = await Disk.with(FILES);
  for (const glob of GLOBS) {
    const { text } = await disk.call("list_files", glob === undefined ? {} : { glob });
    for (const path of [...SECRETS, ...IGNORED]) assert.ok(!text.split("\n").includes(path), `${glob}: ${path}`);
  }
  assert.equal((await disk.call("list_files", { glob: "*.{py,ts}" })).text, "src/a.py\nsrc/b.ts");
  assert.equal((await disk.call("search", { pattern: "needle", glob: "src/*.ts" })).text, "src/b.ts:1:needle");
});

for (const path of [...SECRETS, ".git", "sub/.git", ".ssh", ".kube", ".gnupg", "cache.git", ...IGNORED, "build"]) {
  test(`a search in ${path} is asked about, and a refusal shows nothing of it`, { skip }, async () => {
    await using disk = await Disk.with(FILES);
    disk.settings = { ...disk.settings, policy: "never" };
    disk.isTrusted = false;
    disk.answer = () => REFUSED;
    const refused = await disk.call("search", { pattern: "needle", path });
    assert.deepEqual([refused.isError, refused.text], [true, REFUSED.reason]);
    assert.deepEqual(disk.asked.map(({ title, scope }) => [title, scope]), [[`Search ${path}`, null]]);
    disk.answer = () => ({ allowed: true });
    assert.match((await disk.call("search", { pattern: "needle", path })).text, /needle/);
  });
}

test("a link to a secret is what it leads to, in search as in read_file", { skip }, async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = () => REFUSED;
  await symlink(".env", join(disk.root, "shop/notes.txt"));
  await symlink(".ssh", join(disk.root, "shop/notes"));
  for (const path of ["notes.txt", "notes"]) assert.equal((await disk.call("search", { pattern: "needle", path })).text, REFUSED.reason);
  assert.equal((await disk.call("read_file", { path: "notes.txt" })).text, REFUSED.reason);
  assert.equal((await disk.call("search", { pattern: "needle", glob: "notes*" })).text, "Nothing was found.");
});

test("an ignored folder that was allowed shows no secret in it", { skip }, async () => {
  await using disk = await Disk.with({ ...FILES, "shop/build/.env": "needle\n" });
  assert.deepEqual((await disk.call("search", { pattern: "needle", path: "build" })).text.split("\n").sort(), ["build/deep/out.txt:1:needle", "build/out.txt:1:needle"]);
  assert.doesNotMatch((await disk.call("list_files", { path: "build" })).text, /\.env/);
});

test("neither a name nor a text with a line break is a line of its own, and a message about a binary secret is none", { skip }, async () => {
  const binary = `needle\n${"x".repeat(200_000)}\0`;
  await using disk = await Disk.with({ "shop/x\nsrc/forged.py": "needle\n", "shop/a.py": "needle\n", "shop/store.p12": binary });
  assert.equal((await disk.call("search", { pattern: "needle" })).text, "a.py:1:needle");
  assert.equal((await disk.call("list_files", {})).text, "a.py");
  await using other = await Disk.with({ "shop/a.py": "needle\rb.py:1:forged\n", "shop/y\u2028c.py": "needle\n" });
  const { text } = await other.call("search", { pattern: "needle" });
  assert.deepEqual(text.split("\n").sort(), ["a.py:1:needle\rb.py:1:forged", "y\u2028c.py:1:needle"]);
});

test("what may hold credentials is read only after a question", async () => {
  await using disk = await Disk.with(FILES);
  disk.answer = () => REFUSED;
  for (const path of SECRETS) assert.equal((await disk.call("read_file", { path })).text, REFUSED.reason, path);
});

test("no edit finds out without a question what a secret is", async () => {
  await using disk = await Disk.with({ "shop/.env": "KEY=one\n" });
  disk.answer = () => REFUSED;
  const guesses = ["KEY=o", "KEY=x"].map((oldText) => disk.call("edit_file", { path: ".env", edits: [{ oldText, newText: "" }, { oldText: "nowhere", newText: "" }] }));
  const contents = ["KEY=one\n", "KEY=two\n"].map((content) => disk.call("write_file", { path: ".env", content }));
  for (const { text } of await Promise.all([...guesses, ...contents])) assert.equal(text, REFUSED.reason);
});

const CONTROL = [
  ".git", "lib/.git", ".GIT/config", "lib/.git/hooks/pre-commit", ".git./config", ".g\u200dit/config", "git~1/config", "cache.git/config", "cache.git/hooks/update",
  "new.git/HEAD", ".gitattributes", "lib/.gitattributes", ".gitmodules", ".envrc", ".bashrc", ".profile", ".zshenv", "home/.bash_profile", ".github/workflows/ci.yml",
  ".claude/settings.json", ".cursor/rules/x.mdc", ".mcp.json", ".pre-commit-config.yaml", ".vscode/tasks.json", "lib/.vscode/settings.json", ".zed/tasks.json",
  ".opencode/plugins/x.ts", "opencode.json", "opencode.jsonc", ".pi/extensions/x.ts", ".pi/settings.json", ".qwen/settings.json", ".hermes/config.yaml", ".openclaw/x.json",
  ".agents/skills/x/SKILL.md", ".continue/config.yaml", ".kiro/settings/mcp.json", ".roo/mcp.json", ".aider.conf.yml", ".hg/hgrc", "mise.toml", ".mise.local.toml",
  ".cargo/config.toml", "lib/.cargo/config.toml", ".yarnrc.yml", ".pnpmfile.cjs", ".jj/repo/config.toml", ".venv/bin/ls", ".bundle/config", ".mvn/jvm.config", ".prettierrc", ".eslintrc.js", ".tool-versions",
  "rust-toolchain.toml", "gradle/wrapper/gradle-wrapper.properties", "node_modules/.bin/tsc", "node_modules/x/index.js", "env/pyvenv.cfg", "env/bin/python", "env/lib/python3.12/site-packages/x.pth",
  "hooks/pre-commit", "tools/hooks/update", "githooks/post-checkout", "store.git/config", "store.git/hooks/x", ".new-agent/rules.md", "docs/.unheard-of", ".vscode/.gitignore", ".gitignore", "lib/.gitignore", ".ignore", ".rgignore", ".VSCODE/tasks.json",
  "AGENT.md", "docs/agent.md", "WARP.md", "CRUSH.md", "SOUL.md", "agents/heartbeat.md", "MEMORY.md", "lib/sitecustomize.py", "usercustomize.py", ".goosehints", ".rules", ".junie/guidelines.md", ".augment/rules/a.md", ".amazonq/rules/a.md", ".trae/rules/a.md", ".factory/x",
  "build.rs", "lib/package.json", "CMakeLists.txt", "flake.nix", "nuget.config", "go.work", "app/build.gradle", "settings.gradle.kts", "a/App.csproj", "Directory.Build.targets", "a.props",
  "eslint.config.js", "web/vite.config.mts", "skills/x/SKILL.md", "docs/python.instructions.md", "lib/x.pth",
  "Makefile", "lib/GNUmakefile", "rules.mk", "cmake/find.cmake", "CMakePresets.json", "configure", "meson.build", "BUILD", "lib/BUILD.bazel", "defs.bzl", "build.zig", "app.pro", "platformio.ini",
  "Cargo.toml", "pom.xml", "build.sbt", "gradle.properties", "gradle/libs.versions.toml", "gradlew", "Directory.Build.rsp", "Shop.sln", "Shop.csproj.user", "ansible.cfg", "global.json", "mix.exs", "hie.yaml", "Package.swift", "pubspec.yaml",
  "latexmkrc", "docs/conf.py", "docs/source/conf.py", "shell.nix", "pyproject.toml", "setup.py", "setup.cfg", "requirements-dev.txt", "Pipfile", "Gemfile", "shop.gemspec", "composer.json", "pnpm-workspace.yaml",
  "mypy.ini", "pylintrc", "tox.ini", "pytest.ini", "vitest.workspace.ts", "karma.conf.js", "tsconfig.json", "tsconfig.build.json", "babel.config.json", "analysis_options.yaml", "phpstan.neon.dist", "phpunit.xml",
  "justfile", "Taskfile.yml", "Rakefile", "gulpfile.ts", "noxfile.py", "app/Dockerfile", "Dockerfile.dev", "compose.yaml", "Jenkinsfile", "azure-pipelines.yml",
  "AGENTS.md", "lib/AGENTS.md", "QWEN.md", ".hermes.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md",
];

test("files that make programs run are asked about each time, also after edits were allowed for the conversation", async () => {
  await using disk = await Disk.with({ "shop/cache.git/HEAD": "ref: refs/heads/main\n", "shop/env/pyvenv.cfg": "home = /usr/bin\n" });
  disk.answer = () => REFUSED;
  for (const policy of ["firstUse", "never"] as const) {
    disk.settings = { ...disk.settings, policy };
    for (const path of CONTROL) {
      assert.equal((await disk.call("write_file", { path, content: "x" })).text, REFUSED.reason);
      assert.deepEqual([disk.asked.at(-1)?.title, disk.asked.at(-1)?.scope, disk.asked.at(-1)?.details[0]?.kind], [`${path === "env/pyvenv.cfg" ? "Edit" : "Create"} ${path}`, null, "note"], path);
    }
  }
  assert.equal(disk.asked.length, 2 * CONTROL.length);
  const sources = ["src/main.rs", "src/build/a.py", "workspace/a.ts", "configure/a.py", "dune/a.ml", "tests/conftest.py", "tests/test_a.py", "app/tasks.py", "app/conf.py", "go.mod", "cmd/main.go", "App.java", "data.json", "config.json", "a.yaml", "a.toml", "a.xml", "src/docker.ts", "src/components/head/index.tsx", "src/hooks/update/index.ts"];
  const harmless = ["lib/.dockerignore", ".editorconfig", ".env.example", "empty/.gitkeep", ".nvmrc", ".python-version", "public/.well-known/security.txt", ".changeset/new.md"];
  for (const path of ["src/agents.py", "docs/config", "README.md", "src/hooks/useCart.ts", "hooks/pre-commit.md", "scripts/update", "docs/agent-loop.md", "venv.md", "src/env/a.py", "src/config.ts", "package-lock.json", "docs/instructions.txt", "rules.md", "git/config", ...sources, ...harmless]) {
    await disk.call("write_file", { path, content: "x" });
    assert.equal(disk.asked.at(-1)?.scope, "edit_file", path);
  }
});

test("the ignore files around the workspace folder hold in it, and one within takes nothing back of an excluded folder", async () => {
  await using disk = await Disk.with({
    ".gitignore": "/shop/local.py\nprivate/\n*.dump\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".git/info/exclude": "mine/\n", "shop/.gitignore": "!private/x\n!own.dump\n", "shop/lib/.gitignore": "!private/\n!private/**\n",
    "shop/local.py": "x\n", "shop/private/x": "x\n", "shop/lib/private/x": "x\n", "shop/a.dump": "x\n", "shop/own.dump": "x\n", "shop/mine/x": "x\n", "shop/lib/local.py": "x\n",
  });
  const asked = async (path: string): Promise<boolean> => {
    const before = disk.asked.length;
    await disk.call("read_file", { path });
    return disk.asked.length > before;
  };
  const all = ["local.py", "private/x", "lib/private/x", "a.dump", "own.dump", "mine/x", "lib/local.py"];
  const withQuestion: string[] = [];
  for (const path of all) if (await asked(path)) withQuestion.push(path);
  assert.deepEqual(withQuestion, ["local.py", "private/x", "a.dump", "mine/x"], "the folder's own rules take lib/private back, as in Git");
  await writeFile(join(disk.root, "shop/.gitignore"), "lib/local.py\n");
  assert.deepEqual([await asked("lib/local.py"), await asked("own.dump")], [true, true], "rules that change are read again");
});

test("in a worktree, whose .git is a file, only what its rules exclude is asked about", async () => {
  await using disk = await Disk.with({ ".git": "gitdir: ../main/.git/worktrees/w\n", ".gitignore": "*.dump\n", "shop/a.dump": "x\n", "shop/a.py": "x\n" });
  await disk.call("read_file", { path: "a.py" });
  assert.deepEqual(disk.asked, []);
  await disk.call("read_file", { path: "a.dump" });
  assert.equal(disk.asked.length, 1);
});

test("a repository without a checkout holds folders that are checkouts, in which nothing more is asked", async () => {
  await using disk = await Disk.with({ "shop/HEAD": "ref: refs/heads/main\n", "shop/main/.git": "gitdir: ../worktrees/main\n", "shop/main/a.py": "one\n" });
  await disk.call("read_file", { path: "main/a.py" });
  assert.deepEqual(disk.asked, []);
  await disk.call("read_file", { path: "config" });
  assert.equal(disk.asked.length, 1);
});

for (const [name, files] of Object.entries({
  "is empty": { "shop/.git/x": "" },
  "has a HEAD that names nothing": { "shop/.git/HEAD": "x\n", "shop/.git/objects/x": "", "shop/.git/refs/x": "" },
})) {
  test(`a folder that Git takes for a repository stays one beside a .git that ${name}`, async () => {
    await using disk = await Disk.with({ "shop/HEAD": "ref: refs/heads/main\n", "shop/config": "[core]\n", ...files });
    disk.answer = () => REFUSED;
    const written = await disk.call("write_file", { path: "config", content: "[core]\n\tfsmonitor = x\n" });
    assert.deepEqual([written.isError, disk.asked.length], [true, 1]);
    assert.match(JSON.stringify(disk.asked), /can make programs run/);
  });
}

test("git status runs no program that a repository names as its file watcher", async () => {
  await using disk = await Disk.with({});
  const folder = join(disk.root, "shop/lib");
  await mkdir(folder);
  const watcher = join(disk.root, "watcher");
  await writeFile(watcher, `#!/bin/sh\ntouch '${join(disk.root, "was-run")}'\n`);
  await chmod(watcher, 0o755);
  execFileSync("git", ["init", "-q", `--separate-git-dir=${join(disk.root, "elsewhere")}`, folder]);
  execFileSync("git", ["config", "core.fsmonitor", watcher], { cwd: folder });
  const result = await disk.call("run_command", { command: "git status && git config core.fsmonitor", folder: "lib" });
  assert.match(result.text, /\nfalse\n\[Exit code 0\]$/);
  await assert.rejects(disk.file("was-run"));
});

test("instructions that are a link to a secret or an ignored file are none", async () => {
  await using disk = await Disk.with({ "shop/.env": "KEY=1\n", "shop/CLAUDE.md": "Prices are in cents.\n", "shop/.gitignore": "private/\n", "shop/private/x": "private\n" });
  const instructions = () => instructionsIn(disk.folders, join(disk.root, "shop"), (path) => disk.read(path));
  await symlink(".env", join(disk.root, "shop/AGENTS.md"));
  assert.deepEqual(await instructions(), { path: "CLAUDE.md", text: "Prices are in cents.\n" });
  await using other = await Disk.with({ "shop/private/x": "private\n", "shop/.gitignore": "private/\n" });
  await symlink("private/x", join(other.root, "shop/AGENTS.md"));
  assert.equal(await instructionsIn(other.folders, join(other.root, "shop"), (path) => other.read(path)), undefined);
  await using linked = await Disk.with({ "shop/docs/agents.md": "In cents.\n" });
  await symlink("docs/agents.md", join(linked.root, "shop/AGENTS.md"));
  assert.equal((await instructionsIn(linked.folders, join(linked.root, "shop"), (path) => linked.read(path)))?.text, "In cents.\n");
});
