// A code-server of its own for a test: a fresh home, a fresh profile, one folder as the workspace.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { codeServer, coppice, extensions } from "./places.ts";
import { until } from "./waiting.ts";

export interface EditorOptions {
  settings?: Record<string, unknown>;
  /** Files of the workspace folder, by path. */
  files?: Record<string, string>;
  /** Nobody has said of the workspace that it is trusted, and nobody is asked. */
  untrusted?: boolean;
}

const MACHINE_SETTINGS = "Machine/settings.json";

const QUIET = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "workbench.enableExperiments": false,
  "workbench.colorTheme": "Dark Modern",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "window.commandCenter": false,
  "chat.disableAIFeatures": true,
  "git.enabled": false,
  "remote.autoForwardPorts": false,
  "security.workspace.trust.startupPrompt": "never",
};

export class Editor {
  url = "";
  readonly home = mkdtempSync(join(tmpdir(), "coppice-vscode-"));
  readonly workspace: string;
  #log = "";
  readonly #process: ChildProcess;

  private constructor(options: EditorOptions) {
    this.workspace = join(this.home, "shop");
    for (const [path, text] of Object.entries({ "README.md": "# Shop\n", ...options.files })) {
      this.write(path, text);
    }
    this.#writeJson("User/settings.json", QUIET);
    this.configure({ "coppice.server.path": coppice, ...options.settings });
    this.#process = spawn(
      process.execPath,
      [
        codeServer,
        ...["--auth", "none", "--bind-addr", "127.0.0.1:0", "--config", join(this.home, "config.yaml")],
        ...["--user-data-dir", this.profile, "--extensions-dir", extensions],
        ...["--disable-telemetry", "--disable-update-check", ...(options.untrusted === true ? [] : ["--disable-workspace-trust"])],
        "--disable-getting-started-override",
      ],
      {
        env: { ...passedOn(), HOME: this.home, COPPICE_STORAGE_DIRECTORY: this.storage },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      },
    );
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.on("data", (data: Buffer) => (this.#log += data.toString()));
    }
  }

  static async start(options: EditorOptions = {}): Promise<Editor> {
    const editor = new Editor(options);
    const address = /HTTP server listening on (http:\S+?)\/?\s/;
    const origin = await until("code-server listens", () => address.exec(editor.#log)?.[1]);
    editor.url = `${origin ?? ""}/?folder=${encodeURIComponent(editor.workspace)}`;
    return editor;
  }

  get profile(): string {
    return join(this.home, "profile");
  }

  /** Where the Coppice servers of this editor keep conversations. */
  get storage(): string {
    return join(this.home, "conversations");
  }

  /** Adds to the user's settings for this machine; a window that is open takes them over by itself. */
  configure(settings: Record<string, unknown>): void {
    const written = JSON.parse(read(join(this.profile, MACHINE_SETTINGS)) || "{}") as Record<string, unknown>;
    this.#writeJson(MACHINE_SETTINGS, { ...written, ...settings });
  }

  /** Writes a file of the workspace, as another program does. */
  write(path: string, text: string, mode = 0o644): void {
    const file = join(this.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
  }

  /** The processes of the Coppice servers that this editor's windows started. */
  servers(): number[] {
    const ours = `COPPICE_STORAGE_DIRECTORY=${this.storage}\0`;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => read(`/proc/${pid}/cmdline`).endsWith("\0serve\0") && read(`/proc/${pid}/environ`).includes(ours))
      .map(Number);
  }

  /** The environment of a process, by name. */
  environment(pid: number): Record<string, string> {
    const pairs = read(`/proc/${String(pid)}/environ`).split("\0").filter((pair) => pair.includes("="));
    return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  }

  #writeJson(path: string, value: unknown): void {
    const file = join(this.profile, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(value, undefined, 2));
  }

  /** What code-server printed, and the logs that its windows wrote. */
  logs(): string {
    const folder = join(this.profile, "logs");
    const written = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".log"))
      .map((name) => `\n== ${name}\n${readFileSync(join(folder, name), "utf8")}`);
    return this.#log + written.join("");
  }

  /** Ends the whole process group: extension hosts would wait hours for their window to come back. */
  async stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(-pid, "SIGKILL");
      await ended;
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Of the environment what programs and package indexes need, and no key of whoever runs the tests. */
function passedOn(): NodeJS.ProcessEnv {
  const needed = /^(PATH|LANG|TZ|TMPDIR|PIP_\w+|SSL_CERT_FILE|https?_proxy|no_proxy)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.test(name)));
}

/** Nothing where the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
