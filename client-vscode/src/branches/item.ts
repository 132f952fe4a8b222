import * as vscode from "vscode";

import { counted, oneLine } from "../format";
import type { TreeNode } from "../protocol.gen";

export interface Shown {
  isLeaf: boolean;
  isFork: boolean;
  hasChildren: boolean;
  /** What a compaction brought, `142k → 23k tokens`. */
  gain?: string | undefined;
  /** What an alternative changed in the files, `2 files +10 −3`. */
  changed?: string | undefined;
  /** It is folded, and what is current is within. */
  holdsCurrent: boolean;
}

/** A node as the tree view draws it. What a conversation says is shown as text. */
export function treeItem(node: TreeNode, shown: Shown): vscode.TreeItem {
  const title = oneLine(node.label ?? (node.type === "compaction" ? "Compaction" : node.preview)) || kind(node);
  const item = new vscode.TreeItem(title, collapsible(node, shown));
  const described = [
    shown.isLeaf ? "current" : shown.holdsCurrent ? "current inside" : undefined,
    shown.gain,
    shown.changed,
    (node.runLength ?? 1) > 1 ? counted(node.runLength ?? 1, "entry", "entries") : undefined,
    node.label !== undefined ? oneLine(node.preview, 60) : undefined,
  ].filter((part) => part !== undefined && part !== "");
  // The editor keeps whether an item is open by its id, and takes one that had no children for closed.
  item.id = shown.hasChildren ? `${node.id}/` : node.id;
  item.description = described.join(" · ");
  item.iconPath = new vscode.ThemeIcon(icon(node, shown), node.onCurrentPath ? new vscode.ThemeColor("charts.blue") : undefined);
  item.contextValue = context(node, shown);
  if (!shown.isLeaf) item.command = { command: "coppice.branches.switch", title: "Switch to This Branch", arguments: [node] };
  const spoken = [title, ...described, node.pinned ? "pinned" : "", node.onCurrentPath ? "on the current path" : ""];
  item.accessibilityInformation = { label: spoken.filter((part) => part !== "").join(", ") };
  return item;
}

function kind({ type, role }: TreeNode): string {
  return (role ?? type).replaceAll("_", " ");
}

function collapsible(node: TreeNode, { hasChildren }: Shown): vscode.TreeItemCollapsibleState {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  if (!hasChildren) return None;
  return node.onCurrentPath ? Expanded : Collapsed;
}

function icon({ type, role, label, pinned }: TreeNode, { isLeaf, isFork, holdsCurrent }: Shown): string {
  if (isLeaf || holdsCurrent) return "circle-filled";
  if (pinned) return "pinned";
  if (label !== undefined) return "tag";
  if (type === "compaction") return "fold";
  if (type === "branch_summary") return "note";
  if (type === "context_edit") return "clear-all";
  if (isFork) return "git-branch";
  if (role === "user") return "account";
  return role === "toolResult" ? "tools" : "comment";
}

/** The words that the menus of package.json ask for. */
function context({ type, pinned, onCurrentPath }: TreeNode, { isLeaf, changed }: Shown): string {
  const pinning = pinned ? "unpin" : type === "message" || type === "custom_message" ? "pinnable" : "";
  return ["entry", isLeaf ? "" : "switch", pinning, changed === undefined ? "" : "changed", onCurrentPath ? "" : "elsewhere"].join(" ");
}
