import { existsSync } from "node:fs";
import { join } from "node:path";

/** The ripgrep that VS Code brings, by the places of its versions; else the one on the PATH. */
export function findRipgrep(appRoot: string): string {
  const file = process.platform === "win32" ? "rg.exe" : "rg";
  const modules = ["node_modules", "node_modules.asar.unpacked"].map((name) => join(appRoot, name, "@vscode"));
  const places = modules.flatMap((folder) => [
    join(folder, "ripgrep-universal", "bin", `${process.platform}-${process.arch}`, file),
    join(folder, "ripgrep", "bin", file),
  ]);
  return places.find((place) => existsSync(place)) ?? file;
}
