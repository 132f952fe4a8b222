import * as vscode from "vscode";

import type { ErrorWatch, FileError } from "../file-errors";

/** Milliseconds to wait for the first report after an edit, and for a quiet time after each: what a language server takes for one file. */
const LONGEST_MS = 2000;
const QUIET_MS = 300;

/** Looks at the errors of a file from now on. */
export function watchErrors(path: string): ErrorWatch {
  const uri = vscode.Uri.file(path);
  let reported = -Infinity;
  const listening = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
    if (uris.some((each) => each.toString() === uri.toString())) reported = Date.now();
  });
  const after = async (): Promise<readonly FileError[]> => {
    try {
      // Only a file that is open is looked at by most language servers.
      await vscode.workspace.openTextDocument(uri);
      const until = Date.now() + LONGEST_MS;
      const isQuiet = (): boolean => reported !== -Infinity && Date.now() - reported >= QUIET_MS;
      while (Date.now() < until && !isQuiet()) {
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 3));
      }
      return errorsOf(uri);
    } finally {
      listening.dispose();
    }
  };
  return { before: errorsOf(uri), after };
}

function errorsOf(uri: vscode.Uri): FileError[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error)
    .map(({ range, message, source = "", code }) => {
      const name = typeof code === "object" ? code.value : code;
      return { line: range.start.line + 1, column: range.start.character + 1, message, source: [source, name].filter((part) => part !== undefined && part !== "").join(" ") };
    });
}
