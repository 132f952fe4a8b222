// Where the things are that the tests use.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
export const root = join(here, "..", "..", "..");
export const testsDirectory = join(root, "tests");
export const virtualEnvironment = join(root, ".venv", "bin");
export const python = join(virtualEnvironment, "python");
export const coppice = join(virtualEnvironment, "coppice");
/** Screenshots, and the logs of failures. */
export const artifacts = join(testsDirectory, "vscode", "artifacts");
/** Recorded sessions, kept next to the checkout, not in it. */
export const sharedData = join(root, "..", "shared", "data");
export const codeServer = named("COPPICE_CODE_SERVER", "the entry point of code-server");
export const extensions = named("COPPICE_EXTENSIONS", "a folder with the extension installed");
export const browser = named("COPPICE_BROWSER", "the address that harness/browser.ts printed");

function named(variable: string, what: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} must name ${what}; .ci/vscode test does so.`);
  return value;
}
