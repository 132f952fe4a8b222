import * as vscode from "vscode";

const SCHEME = "coppice-before";
/** Texts that are kept; older ones are shown empty. Two turns of as many files as are reviewed at a time. */
const MOST = 200;

/** The content of files before a change, as documents to compare with. */
export class BeforeDocuments implements vscode.Disposable, vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, () => string | Promise<string>>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  #count = 0;

  add(name: string, text: () => string | Promise<string>): vscode.Uri {
    this.#count += 1;
    const key = String(this.#count);
    this.#texts.set(key, text);
    this.#texts.delete(String(this.#count - MOST));
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: key });
  }

  provideTextDocumentContent(uri: vscode.Uri): string | Promise<string> {
    return this.#texts.get(uri.query)?.() ?? "";
  }

  dispose(): void {
    this.#registration.dispose();
  }
}
