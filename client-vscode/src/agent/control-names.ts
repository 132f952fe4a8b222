/**
 * Files without a dot that make an ordinary tool run, allow or believe something: patterns as in `.gitignore`, a group for
 * each kind of tool, which by its own documentation reads them without being asked for them. Sources that a tool runs
 * because they are the project's (tests, `conftest.py`, macros) are none: a plain source file is not asked about.
 */

const SCRIPTS = ["js", "cjs", "mjs", "ts", "cts", "mts"];

function scripts(...stems: readonly string[]): string[] {
  return stems.flatMap((stem) => SCRIPTS.map((ending) => `${stem}.${ending}`));
}

/** Names that folders have, too, in which nothing is asked about. */
function filesAlone(...names: readonly string[]): string[] {
  return names.flatMap((name) => [name, `!${name}/`]);
}

/** A folder with these can become a repository; its hooks are programs. */
const GIT = [
  ...filesAlone("HEAD", "**/hooks/update"), "*.git/", "lefthook.y*ml",
  "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge",
  "pre-push", "pre-receive", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate",
  "fsmonitor-watchman", "post-index-change",
];

/** Shells, editors and choosers of tool versions run what these say as soon as a folder is entered. */
const ENTERED = [
  "*.code-workspace", ".envrc", "config.fish", "*profile.ps1", "mise*.toml", "rust-toolchain", "rust-toolchain.toml", "global.json",
  "flake.nix", "shell.nix", "default.nix", "devenv.nix", "devenv.yaml", "devbox.json",
];

/** Programs that are there to be run, and what Python runs at each start. */
const INSTALLED = ["node_modules/", "site-packages/", "pyvenv.cfg", "*.pth", "sitecustomize.py", "usercustomize.py", "gradlew*", "mvnw*"];

/** Agents follow these, or start what they name. */
const AGENTS = [
  "opencode.json*", "mcp.json", "AGENT.md", "AGENTS*.md", "CLAUDE*.md", "GEMINI.md", "QWEN.md", "HERMES.md", "WARP.md", "CRUSH.md", "SOUL.md", "HEARTBEAT.md", "MEMORY.md",
  "SKILL.md", "*instructions.md",
];

/** Builds, which extensions configure or start when one of these is saved; each can run a command or a script. */
const BUILDS = [
  // C, C++, Fortran and what builds anything: Make even in a dry run.
  "Makefile*", "GNUmakefile", "*.mk", "*.mak", "configure.ac", "configure.in", ...filesAlone("configure"), "CMakeLists.txt", "*.cmake", "CMake*Presets.json",
  "meson.build", "*.ninja", "SConstruct", "SConscript", "wscript", "xmake.lua", "premake*.lua", "*.pro", "*.pri", "conanfile.*", "vcpkg*.json", "platformio.ini",
  "*.bazel", "*.bzl", ...filesAlone("BUILD", "WORKSPACE", "BUCK"),
  // Rust: `package.build` names any source as the script of the build. Zig, D, Nim, Swift, Crystal.
  "build.rs", "Cargo.toml", "build.zig", "build.zig.zon", "dub.json", "dub.sdl", "*.nimble", "*.nims", "Package.swift", "*.pbxproj", "*.xcconfig", "shard.yml",
  // Go: a workspace of modules, in which tools of others are built.
  "go.work",
  // Java, Kotlin, Scala, Clojure: plug-ins, agents of the virtual machine, and the version of the tool itself.
  "*.gradle", "*.gradle.kts", "gradle.properties", "gradle-wrapper.properties", "*.versions.toml", "pom.xml", "build.xml", "*.sbt", "build.properties", "build.sc", "*.mill", "project.clj", "deps.edn", "bb.edn", "shadow-cljs.edn",
  // .NET: tasks of MSBuild, what it is called with, and where its packages come from.
  "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.proj", "*proj.user", "*.props", "*.targets", "*.sln", "*.slnx", "*.rsp", "NuGet.Config", "packages.config",
  // Elixir, Erlang, Haskell (`hie.yaml` names a program for the language server), OCaml, Dart, Perl, Lua.
  "mix.exs", "rebar.config*", "*.cabal", "cabal.project*", "package.yaml", "stack.yaml", "Setup.hs", "hie.yaml", ...filesAlone("dune"), "dune-project", "dune-workspace", "*.opam",
  "pubspec.yaml", "build.yaml", "Makefile.PL", "Build.PL", "cpanfile", "*.rockspec",
  // Documents: LaTeX is built when it is saved, Sphinx by its language server.
  "latexmkrc", "texmf.cnf", "**/doc/**/conf.py", "**/docs/**/conf.py", "mkdocs.y*ml", "book.toml", "Doxyfile",
];

/** Package managers run scripts of the packages that these name, and their own. */
const PACKAGES = [
  "package.json", "pnpm-workspace.yaml", "lerna.json", "rush.json", "deno.json*", "bunfig.toml",
  "pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "Pipfile", "environment.y*ml", "uv.toml", "poetry.toml", "pdm.toml", "pixi.toml", "hatch.toml", "hatch_build.py",
  "Gemfile", "gems.rb", "*.gemspec", "Podfile", "composer.json",
];

/** Linters, type checkers, test runners, bundlers and generators load plug-ins, presets and set-up files that these name. */
const PLUG_INS = [
  ...scripts("*.config", "*.conf", "*.workspace", "*.projects", "webpack.*", "ember-cli-build"), "*.config.json", "vitest.workspace.json", "cypress.json", "nodemon.json",
  "tsconfig*.json", "jsconfig*.json", "angular.json", "nest-cli.json", "nx.json", "project.json", "turbo.json", "electron-builder.*", "buf*.yaml", "ansible.cfg",
  "mypy.ini", "tox.ini", "pytest.ini", "pytest.toml", "pylintrc*",
  "analysis_options.yaml", "phpstan*.neon*", "psalm*.xml*", "phpunit*.xml*", "phpcs*.xml*", "rector.php", "ecs.php", "Steepfile",
];

/** Runners of tasks, on this machine, in a container or at a service that builds what is pushed. */
const TASKS = [
  "justfile", "*.just", "Taskfile*.y*ml", "Rakefile", "*.rake", "Guardfile", "Jakefile*", "Earthfile", "Tiltfile", "Procfile*", "Snakefile", "Vagrantfile", "Fastfile", "Dangerfile",
  "noxfile.py", "fabfile.py", "dodo.py", "magefile.go", ...scripts("gulpfile", "Gruntfile"),
  "Dockerfile*", "*.dockerfile", "Containerfile*", "compose*.y*ml", "docker-compose*.y*ml", "docker-bake.*",
  "Jenkinsfile*", "azure-pipelines*.y*ml", "bitbucket-pipelines.yml", "cloudbuild.y*ml", "buildspec.y*ml", "appveyor.yml", "codemagic.yaml", "netlify.toml", "vercel.json", "wrangler.*",
];

export const CONTROL = [...GIT, ...ENTERED, ...INSTALLED, ...AGENTS, ...BUILDS, ...PACKAGES, ...PLUG_INS, ...TASKS];
