/** The system that the extension runs on. Nothing else asks for it: what depends on it is given it, or asks here. */

export function platform(): NodeJS.Platform {
  return process.platform;
}

export function isWindows(): boolean {
  return platform() === "win32";
}

/** Whether names of files that differ in case alone usually name the same file, as Git assumes there. */
export function filesHaveOneCase(): boolean {
  return isWindows() || platform() === "darwin";
}
