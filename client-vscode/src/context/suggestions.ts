import fuzzysort from "fuzzysort";
import * as vscode from "vscode";

import type { Host } from "../agent/host";
import { prefixOf } from "../agent/paths";
import { isSecret } from "../agent/sensitive";
import { ripgrep } from "../agent/tools/ripgrep";
import { counted } from "../format";
import type { Suggestion } from "./attachment";

const MOST = 20;
const MOST_SYMBOLS = 8;
/** Paths of a workspace that are completed. A guess: beyond it a search is the better way. */
const MOST_FILES = 50_000;
/** Milliseconds for which the list of files counts as new. */
const FRESH_MS = 10_000;
/** Milliseconds that a language server gets for its symbols, before the files are shown without them. */
const SYMBOLS_MS = 1500;

/** Files, symbols and problems for what a person types after `@`. */
export class Suggestions {
  readonly #host: Host;
  #files: { at: number; paths: Promise<string[]> } | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async for(query: string): Promise<Suggestion[]> {
    const [files, symbols] = await Promise.all([this.#filesFor(query), query.length < 2 ? [] : symbolsFor(query)]);
    const problems = "problems".startsWith(query.toLowerCase()) ? problemSuggestions() : [];
    return [...(query === "" ? files.slice(0, MOST - 1) : files.slice(0, MOST - symbols.length)), ...symbols, ...problems];
  }

  async #filesFor(query: string): Promise<Suggestion[]> {
    const paths = await this.#paths();
    const open = openPaths();
    const chosen = query === "" ? [...open, ...paths.filter((path) => !open.includes(path))].slice(0, MOST) : fuzzysort.go(query, paths, { limit: MOST }).map(({ target }) => target);
    return chosen.map((path) => ({ icon: "file", label: path, attachment: { kind: "file", path } }));
  }

  #paths(): Promise<string[]> {
    if (this.#files === undefined || Date.now() - this.#files.at > FRESH_MS) this.#files = { at: Date.now(), paths: this.#list() };
    return this.#files.paths;
  }

  async #list(): Promise<string[]> {
    const { folders } = this.#host;
    const stop = new AbortController().signal;
    const lists = await Promise.all(
      folders.map(async (folder) => {
        const listed = this.#host.ripgrep().then((program) => ripgrep({ program, options: ["--files"], folder, most: MOST_FILES, stop }));
        const { lines } = await listed.catch(() => ({ lines: [] as string[] }));
        const prefix = prefixOf(folders, folder);
        return lines.map((line) => prefix + line.replaceAll("\\", "/")).sort();
      }),
    );
    return lists.flat().filter((path) => !isSecret(path));
  }
}

function openPaths(): string[] {
  const uris = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri] : [])));
  return [...new Set(uris.filter(({ scheme }) => scheme === "file").map((uri) => shownPath(uri)).filter((path) => path !== undefined))];
}

/** As the model writes it; undefined outside of the workspace. */
export function shownPath(uri: vscode.Uri): string | undefined {
  const folder = uri.scheme === "file" ? vscode.workspace.getWorkspaceFolder(uri) : undefined;
  if (folder === undefined) return undefined;
  const folders = (vscode.workspace.workspaceFolders ?? []).map((each) => each.uri.fsPath);
  return prefixOf(folders, folder.uri.fsPath) + vscode.workspace.asRelativePath(uri, false).replaceAll("\\", "/");
}

async function symbolsFor(query: string): Promise<Suggestion[]> {
  const late = new Promise<vscode.SymbolInformation[]>((resolve) => setTimeout(() => { resolve([]); }, SYMBOLS_MS));
  const asked = vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", query);
  const symbols = (await Promise.race([Promise.resolve(asked).catch(() => []), late])) ?? [];
  return symbols.slice(0, MOST_SYMBOLS).flatMap(({ name, location: { uri, range } }) => {
    const path = shownPath(uri);
    if (path === undefined) return [];
    const [start, end] = [range.start.line + 1, range.end.line + 1];
    return [{ icon: "symbol-method", label: name, detail: `${path}:${start}`, attachment: { kind: "lines" as const, path, start, end, name } }];
  });
}

/** The problems, a line each. */
export function problems(path: string | undefined): string[] {
  return vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
    const shown = shownPath(uri);
    if (shown === undefined || (path !== undefined && shown !== path)) return [];
    return diagnostics.map(({ range, severity, message }) => `${shown}:${range.start.line + 1}:${range.start.character + 1}: ${vscode.DiagnosticSeverity[severity]}: ${message}`);
  });
}

function problemSuggestions(): Suggestion[] {
  const active = vscode.window.activeTextEditor;
  const path = active === undefined ? undefined : shownPath(active.document.uri);
  const here = path === undefined ? 0 : problems(path).length;
  const all = problems(undefined).length;
  return [
    ...(path !== undefined && here > 0 ? [{ icon: "warning", label: `problems in ${path}`, detail: counted(here, "problem"), attachment: { kind: "problems" as const, path } }] : []),
    ...(all > 0 ? [{ icon: "warning", label: "problems", detail: counted(all, "problem"), attachment: { kind: "problems" as const } }] : []),
  ];
}
