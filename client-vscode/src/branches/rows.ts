import type { TreeNode } from "../protocol.gen";

/** Which entries are rows: alternatives at branch points, the user's messages as well, only what is labelled or pinned, all. */
export type BranchFilter = "branches" | "mine" | "labelled" | "all";

/** An entry of the tree that is shown, and the last entry before the next row: where one goes by choosing it. */
export interface BranchRow extends TreeNode {
  endId: string;
  /** The conversation went on in other ways where this entry begins. */
  isAlternative: boolean;
}

export interface BranchRows {
  /** Parents come before their children; `parentId` and `childCount` are of rows. */
  rows: BranchRow[];
  /** The row that holds the leaf, or of a leaf that is not listed the last row on its path. Undefined where the path is empty. */
  currentId: string | undefined;
}

const METADATA: ReadonlySet<TreeNode["type"]> = new Set(["label", "pin", "session_info", "file_activity", "custom", "model_change", "thinking_level_change"]);

/** The rows of a listing of all entries, in which parents come before their children. */
export function branchRows(nodes: readonly TreeNode[], leafId: string | null, filter: BranchFilter): BranchRows {
  const children = new Map<string | null, number>();
  for (const { parentId, type } of nodes) if (!METADATA.has(type)) children.set(parentId, (children.get(parentId) ?? 0) + 1);
  const isAlternative = ({ parentId }: TreeNode): boolean => (children.get(parentId) ?? 0) > 1;
  const isShown = (node: TreeNode): boolean => filter === "all" || (!METADATA.has(node.type) && shows(node, filter, isAlternative(node)));

  const rows = new Map<string, BranchRow>();
  /** The row that an entry belongs to. */
  const owners = new Map<string, string>();
  for (const node of nodes) {
    const above = node.parentId === null ? undefined : owners.get(node.parentId);
    // The leaf is shown where no row above it is: one row is always the current one.
    if (isShown(node) || (above === undefined && node.id === leafId)) {
      const parent = above === undefined ? undefined : rows.get(above);
      if (parent !== undefined) parent.childCount += 1;
      rows.set(node.id, { ...node, parentId: above ?? null, childCount: 0, endId: node.id, isAlternative: isAlternative(node) });
      owners.set(node.id, node.id);
    } else if (above !== undefined) {
      owners.set(node.id, above);
      const owner = rows.get(above);
      // Up to the first fork: which way to go after it is a person's choice.
      if (owner?.endId === node.parentId && !METADATA.has(node.type)) owner.endId = node.id;
    }
  }
  const last = leafId === null || owners.has(leafId) ? leafId : nodes.findLast(({ id, onCurrentPath }) => onCurrentPath && owners.has(id))?.id;
  return { rows: [...rows.values()], currentId: owners.get(last ?? "") };
}

function shows({ role, type, label, pinned }: TreeNode, filter: BranchFilter, isAlternative: boolean): boolean {
  if (label !== undefined || pinned === true) return true;
  if (filter === "labelled") return false;
  return isAlternative || (filter === "mine" && (role === "user" || type === "compaction"));
}
