import { existsSync } from "node:fs";
import { join } from "node:path";

import { findOnPath } from "../../programs";
import { ToolError } from "../errors";
import { isWindows, platform } from "../../operating-system";

/** The ripgrep that VS Code brings, by the places of its versions. */
export function ripgrepOf(appRoot: string): string | undefined {
  const file = isWindows() ? "rg.exe" : "rg";
  const modules = ["node_modules", "node_modules.asar.unpacked"].map((name) => join(appRoot, name, "@vscode"));
  const places = modules.flatMap((folder) => [
    join(folder, "ripgrep-universal", "bin", `${platform()}-${process.arch}`, file),
    join(folder, "ripgrep", "bin", file),
  ]);
  return places.find((place) => existsSync(place));
}

/** That one, else the one on the PATH. Throws `ToolError` where there is none. */
export async function findRipgrep(appRoot: string, folders: readonly string[]): Promise<string> {
  const program = ripgrepOf(appRoot) ?? (await findOnPath("rg", process.env["PATH"], folders));
  if (program === undefined) throw new ToolError("Searching needs ripgrep, which this editor does not bring. Use run_command instead.");
  return program;
}
