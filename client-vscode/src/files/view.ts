import { basename, dirname, isAbsolute } from "node:path";
import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import { visible } from "../format";
import { Settling } from "../settling";
import { allFiles, type FileGroup, fileGroups, type GitUpdate, gitUpdates, type TrackedFile } from "./model";

const SETTLE_MS = 300;

type Element = FileGroup | TrackedFile | GitUpdate;

/** The tree view *Files*: what was read and changed in the active conversation. */
export class FilesView implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly #client: CoppiceClient;
  readonly #conversations: Conversations;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #settling = new Settling(SETTLE_MS, () => { this.#changes.fire(undefined); });
  readonly #disposables: { dispose(): unknown }[];
  #folder: vscode.Uri | undefined;

  readonly onDidChangeTreeData = this.#changes.event;

  constructor(client: CoppiceClient, conversations: Conversations) {
    this.#client = client;
    this.#conversations = conversations;
    this.#disposables = [
      conversations.onDidChangeActive(() => { this.#changes.fire(undefined); }),
      client.onDidChangeState((state) => { if (state === "running") this.#settling.soon(); }),
      client.onNotification("coppice/conversationChanged", ({ conversationId }) => {
        if (conversationId === conversations.active) this.#settling.soon();
      }),
      vscode.window.createTreeView("coppice.files", { treeDataProvider: this, showCollapseAll: true }),
      this.#settling,
      this.#changes,
    ];
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element !== undefined) return "files" in element ? element.files : [];
    const conversationId = this.#conversations.active;
    if (conversationId === undefined || !this.#client.isAvailable) return [];
    const [{ conversation }, files] = await Promise.all([
      this.#client.request("coppice/conversation/get", { conversationId }),
      allFiles((cursor) => this.#client.request("coppice/files", { conversationId, cursor })),
    ]);
    this.#folder = vscode.Uri.parse(conversation.workspaceUri);
    return [...fileGroups(files), ...gitUpdates(files)];
  }

  getTreeItem(element: Element): vscode.TreeItem {
    if (element.kind === "git") return gitItem(element);
    return "files" in element ? groupItem(element) : this.#fileItem(element);
  }

  /** Where a tracked file lies. A path that is not absolute is one of the conversation's folder. */
  uri(path: string): vscode.Uri {
    if (isAbsolute(path) || this.#folder?.scheme !== "file") return vscode.Uri.file(path);
    return vscode.Uri.joinPath(this.#folder, path);
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
  }

  #fileItem(file: TrackedFile): vscode.TreeItem {
    const folder = dirname(file.path);
    const item = new vscode.TreeItem(visible(basename(file.path)));
    item.resourceUri = this.uri(file.path);
    item.iconPath = vscode.ThemeIcon.File;
    item.description = folder === "." ? "" : visible(folder);
    item.tooltip = visible(`${file.path}\n${file.description}`);
    item.contextValue = file.kind;
    item.accessibilityInformation = { label: visible(`${file.path}, ${file.kind}, ${file.description}`) };
    if (file.kind !== "deleted") {
      const isModified = file.kind === "modified";
      item.command = isModified
        ? { command: "coppice.files.openChanges", title: "Open Changes", arguments: [file] }
        : { command: "coppice.files.open", title: "Open File", arguments: [file] };
    }
    return item;
  }
}

function groupItem({ title, kind, files }: FileGroup): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(title, kind === "modified" ? Expanded : Collapsed);
  item.description = String(files.length);
  item.contextValue = "group";
  return item;
}

function gitItem({ title, commit }: GitUpdate): vscode.TreeItem {
  const item = new vscode.TreeItem(title);
  item.iconPath = new vscode.ThemeIcon("git-commit");
  item.tooltip = `${title}. Git replaced these files, at commit ${commit.slice(0, 12)}; nobody in this conversation changed them.`;
  item.contextValue = "git";
  return item;
}

export function registerFileCommands(commands: Commands, view: FilesView): void {
  commands.add("coppice.files.open", async ({ path }: TrackedFile) =>
    vscode.commands.executeCommand("vscode.open", view.uri(path)),
  );
  commands.add("coppice.files.openChanges", async ({ path }: TrackedFile) => {
    const uri = view.uri(path);
    const opened = await openChanges(uri);
    if (!opened) await vscode.commands.executeCommand("vscode.open", uri);
  });
}

interface GitApi {
  getRepository(uri: vscode.Uri): { diffWithHEAD(path: string): Promise<string> } | null;
  toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
}

/** Shows the file against the last commit, where it lies in a repository and differs. */
async function openChanges(uri: vscode.Uri): Promise<boolean> {
  const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>("vscode.git");
  if (extension === undefined) return false;
  try {
    const git = (await extension.activate()).getAPI(1);
    const difference = await git.getRepository(uri)?.diffWithHEAD(uri.fsPath);
    if (difference === undefined || difference === "") return false;
    const title = `${basename(uri.fsPath)} (HEAD ↔ Working Tree)`;
    await vscode.commands.executeCommand("vscode.diff", git.toGitUri(uri, "HEAD"), uri, title);
    return true;
  } catch {
    // Git is switched off, or knows nothing of the file.
    return false;
  }
}
