import { isAbsolute } from "node:path";

import { NoServerError } from "../errors";
import { findOnPath, isExecutable } from "../programs";

/** Where a server may be. `setting` is `coppice.server.path`, `own` the program of the extension's own installation. */
export interface Places {
  setting: string;
  own?: string | undefined;
  path?: string | undefined;
  /** The workspace's folders: a program of the PATH that leads into them is none. */
  folders: readonly string[];
}

export interface ServerCommand {
  command: string;
  from: "setting" | "own" | "path";
}

/** The server to run: the setting's, the extension's own, or the PATH's. A setting that is wrong is not passed over. */
export async function findServer(places: Places): Promise<ServerCommand> {
  const setting = places.setting.trim();
  if (setting !== "") {
    if (isAbsolute(setting) && (await isExecutable(setting))) return { command: setting, from: "setting" };
    throw new NoServerError(
      `The setting coppice.server.path names no program: ${setting}. Give the full path of a coppice program, or leave it empty.`,
    );
  }
  if (places.own !== undefined && (await isExecutable(places.own))) return { command: places.own, from: "own" };
  const command = await findOnPath("coppice", places.path, places.folders);
  if (command !== undefined) return { command, from: "path" };
  throw new NoServerError("Coppice needs its server, and none is installed.");
}
