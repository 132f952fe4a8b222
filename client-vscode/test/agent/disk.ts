/** The tools' host without an editor: files on the disk, commands in a shell. */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { Agent, type ToolSettings } from "../../src/agent/agent";
import { findRipgrep, ripgrepOf } from "../../src/agent/editor/ripgrep";
import { CommandList } from "../../src/agent/command-list";
import type { CommandRun, Host } from "../../src/agent/host";
import { MadeEdits } from "../../src/agent/made";
import type { ErrorWatch, FileError } from "../../src/agent/file-errors";
import { mostOutput } from "../../src/agent/output";
import { type Outcome, RunningCommand } from "../../src/agent/process";
import { textOfFile } from "../../src/agent/text-file";
import { Modes } from "../../src/modes/modes";
import type { ApprovalRequest, ApprovalResult, Approver } from "../../src/approvals/approval";
import type { Rule } from "../../src/permissions/rule";
import type { InvokeToolResult } from "../../src/protocol.gen";
import { withoutGitSettings } from "../git-settings";

const prefix = process.env["COPPICE_VSCODE_PREFIX"] ?? join(homedir(), ".cache", "coppice", "vscode");
const editor = existsSync(prefix) ? readdirSync(prefix).find((name) => name.startsWith("code-server-")) : undefined;
const appRoot = join(prefix, editor ?? "none", "lib", "vscode");
withoutGitSettings();
export const hasRipgrep = ripgrepOf(appRoot) !== undefined || process.env["CI"] === "true";

export class Disk implements Host {
  isTrusted = true;
  ripgrep = (): Promise<string> => findRipgrep(appRoot, this.folders);
  #made: readonly string[] = [];
  readonly made = new MadeEdits({ read: () => this.#made, write: (hashes) => { this.#made = hashes; } });
  readonly asked: ApprovalRequest[] = [];
  recordState = (): Promise<string | undefined> => Promise.resolve(undefined);
  /** What the person answers, and does before. */
  answer: (request: ApprovalRequest) => ApprovalResult | Promise<ApprovalResult> = () => ({ allowed: true });
  approve: Approver["approve"] = async (request) => {
    this.asked.push(request);
    return this.answer(request);
  };
  rules: readonly Rule[] = [];
  readonly modes = new Modes({ read: () => undefined, write: () => undefined });
  settings: ToolSettings = { access: "all", policy: "firstUse", readOnlyCommands: true };
  readonly agent: Agent;

  private constructor(
    readonly root: string,
    readonly folders: readonly string[],
  ) {
    this.agent = new Agent(this, () => this.settings, { approve: (...given) => this.approve(...given), rulesOf: () => this.rules }, this.modes);
  }

  static async with(files: Record<string, string>, folders: readonly string[] = ["shop"]): Promise<Disk> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-agent-")));
    for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return new Disk(root, folders.map((folder) => join(root, folder)));
  }

  async call(name: string, given: Record<string, unknown>, stop = new AbortController().signal): Promise<InvokeToolResult & { text: string }> {
    const result = await this.agent.invoke({ conversationId: "c", toolCallId: "t", name, arguments: given }, stop);
    const [first] = result.content;
    return { ...result, text: first?.type === "text" ? first.text : "" };
  }

  file(path: string): Promise<string> {
    return readFile(join(this.root, path), "utf8");
  }

  read(path: string): Promise<string | null> {
    return textOfFile(path);
  }

  async write(path: string, text: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return text;
  }

  /** The errors that the editor shows before an edit, and after it. */
  errors: [before: readonly FileError[], after: readonly FileError[]] = [[], []];
  watchErrors = (): ErrorWatch => ({ before: this.errors[0], after: () => Promise.resolve(this.errors[1]) });
  readonly commands = new CommandList();
  limit = mostOutput(undefined);

  async run({ cwd, timeoutMs, program, ...call }: CommandRun, stop: AbortSignal): Promise<Outcome> {
    const running = new RunningCommand({ command: call.command, program, cwd, timeoutMs, limit: this.limit }, () => undefined);
    this.commands.add(call, running);
    const end = (): void => { running.stop(); };
    stop.addEventListener("abort", end);
    return running.done.finally(() => { stop.removeEventListener("abort", end); });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
