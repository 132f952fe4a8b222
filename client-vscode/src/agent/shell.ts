import { posix, win32 } from "node:path";

import { isOutside, windowsProgram } from "../programs";
import { ToolError } from "./errors";

/** How a command line is given to a shell. `isVerbatim`: Windows must not quote the arguments once more. */
export interface ShellCall {
  file: string;
  args: string[];
  isVerbatim: boolean;
}

const POSIX_SHELL = /^(ba|da|z|fi|k)?sh$/;
/** A script's exit code is that of its last statement: PowerShell itself gives 0 or 1. */
const EXIT = "\n$coppiceDone = $?; if ($coppiceDone) { exit 0 }; if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1";
const QUIET = "$ProgressPreference = 'SilentlyContinue'; [Console]::OutputEncoding = [Text.Encoding]::UTF8\n";

/**
 * The call that runs `command` in the user's shell, as far as it is one that is known here, with its whole path; else in
 * the system's.
 * Throws `ToolError` for what the shell cannot run.
 */
export function shellCall(command: string, given: string | undefined, platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): ShellCall {
  const shell = withWholePath(given, platform);
  if (platform !== "win32") {
    const file = shell !== undefined && POSIX_SHELL.test(posix.basename(shell)) ? shell : "/bin/sh";
    return { file, args: ["-c", command], isVerbatim: false };
  }
  const name = shellName(shell);
  if (shell !== undefined && POSIX_SHELL.test(name)) return { file: shell, args: ["-c", command], isVerbatim: false };
  if (shell !== undefined && (name === "powershell" || name === "pwsh")) {
    // Encoded, since PowerShell reads quotes and backslashes of its own command line in its own way.
    const script = Buffer.from(QUIET + command + EXIT, "utf16le").toString("base64");
    return { file: shell, args: ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", script], isVerbatim: false };
  }
  if (/[\r\n]/.test(command.trim())) throw new ToolError("The shell is cmd, which runs one line. Join the commands with && or &.");
  const file = shell !== undefined && name === "cmd" ? shell : (environment["ComSpec"] ?? windowsProgram("cmd.exe", environment));
  // With /s cmd takes off the outer quotes and leaves all others as they are.
  return { file, args: ["/d", "/s", "/c", `"chcp 65001>nul & ${command.trim()}"`], isVerbatim: true };
}

/** The editor's shell, which settings of a checkout can choose; undefined for none and for a program of the checkout. */
export async function shellOutside(given: string, folders: readonly string[]): Promise<string | undefined> {
  return (await isOutside(given, folders)) ? given : undefined;
}

/** The name of the shell that runs commands, for the model. */
export function shellFor(given: string | undefined, platform: NodeJS.Platform): string {
  const shell = withWholePath(given, platform) ?? "";
  if (platform !== "win32") return shell === "" ? "sh" : shell;
  const name = shellName(shell);
  return name === "powershell" || name === "pwsh" || POSIX_SHELL.test(name) ? name : "cmd";
}

/** A name alone would be looked for in the folder in which the command runs. */
function withWholePath(shell: string | undefined, platform: NodeJS.Platform): string | undefined {
  const on = platform === "win32" ? win32 : posix;
  return shell !== undefined && on.isAbsolute(shell) ? shell : undefined;
}

function shellName(shell = ""): string {
  return win32.basename(shell).toLowerCase().replace(/\.exe$/, "");
}
