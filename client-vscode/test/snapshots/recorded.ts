/** A workspace whose states are recorded, in a folder of its own. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { blobId } from "../../src/snapshots/git";
import { type Limits, LIMITS } from "../../src/snapshots/store";
import { WorkspaceSnapshots } from "../../src/snapshots/workspace";

/** Milliseconds that a command of Git and a whole snapshot may take, however busy the machine is. */
const PATIENCE = 60_000;

export class Workspace {
  readonly warnings: string[] = [];
  readonly unsaved = new Set<string>();
  isTrusted = true;
  snapshots: WorkspaceSnapshots;

  private constructor(readonly root: string, readonly folders: string[]) {
    this.snapshots = this.open();
  }

  /** What another window has. */
  open(limits: Partial<Limits> = {}, patienceMs = PATIENCE): WorkspaceSnapshots {
    const { root, folders } = this;
    const isUnsaved = (path: string): boolean => this.unsaved.has(path);
    const warn = (message: string): void => { this.warnings.push(message); };
    const isTrusted = (): boolean => this.isTrusted;
    return new WorkspaceSnapshots(join(root, "storage"), { folders, get isTrusted() { return isTrusted(); }, isUnsaved, warn }, { ...LIMITS, time: PATIENCE, ...limits }, patienceMs);
  }

  /** `disk`: where its folder is made. */
  static async with(files: Record<string, string>, folders = ["shop"], disk = tmpdir()): Promise<Workspace> {
    const root = await realpath(await mkdtemp(join(disk, "coppice-workspace-")));
    const workspace = new Workspace(root, folders.map((name) => join(root, name)));
    for (const folder of workspace.folders) await mkdir(folder);
    await workspace.write(files);
    return workspace;
  }

  async write(files: Record<string, string | null>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = this.path(name);
      if (text === null) {
        await rm(path);
      } else {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, text);
      }
    }
  }

  path(name: string): string {
    return join(this.root, this.folders.length > 1 ? "" : "shop", name);
  }

  /** The file of the hidden repository that has a content. */
  async object(text: string): Promise<string> {
    const [repository = ""] = await readdir(join(this.root, "storage"));
    const id = blobId(Buffer.from(text));
    return join(this.root, "storage", repository, "objects", id.slice(0, 2), id.slice(2));
  }

  async take(): Promise<string> {
    const state = await this.snapshots.take("c");
    assert.ok(state !== undefined, this.warnings.join());
    return state;
  }

  /** Goes over from one state to another, and gives what became of each file. */
  async go(base: string, target: string): Promise<Record<string, string>> {
    const plan = await this.snapshots.plan("c", base, target);
    await this.snapshots.write("c", plan.steps);
    return Object.fromEntries(plan.steps.map(({ path, fate }) => [path, fate]));
  }

  /** Every file with its text. */
  async files(): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for (const folder of this.folders) {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile()) files[path.slice(this.path("").length).replace(/^\//, "")] = await readFile(path, "utf8");
      }
    }
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
