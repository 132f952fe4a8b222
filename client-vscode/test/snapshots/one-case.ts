/** A disk on which names that differ in case alone are the same: the system's own, or one that is mounted for the tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const SCRIPT = join("test", "snapshots", "one_case_disk.py");

export interface OneCaseDisk {
  folder: string;
  remove: () => Promise<void>;
}

/** Gives why there is none where none can be made. */
export async function oneCaseDisk(): Promise<OneCaseDisk | string> {
  const root = await mkdtemp(join(tmpdir(), "coppice-one-case-"));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  if (existsSync(join(tmpdir(), basename(root).toUpperCase()))) return { folder: root, remove };
  const [behind, folder] = [join(root, "behind"), join(root, "disk")];
  await mkdir(behind);
  await mkdir(folder);
  const mounting = spawn("/usr/bin/python3", [SCRIPT, behind, folder], { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  mounting.stderr.on("data", (data: Buffer) => { errors += data.toString(); });
  const ended = once(mounting, "close").catch((error: unknown) => { errors = String(error); });
  const isMounted = await Promise.race([once(mounting.stdout, "data").then(() => true), ended.then(() => false)]);
  if (!isMounted) {
    await remove();
    return `A disk with one case needs Debian's python3-fusepy: ${errors.trim().split("\n").at(-1) ?? ""}`;
  }
  return {
    folder,
    remove: async () => {
      mounting.kill(); // It unmounts the disk.
      await ended;
      await remove();
    },
  };
}
