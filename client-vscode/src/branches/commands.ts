import * as vscode from "vscode";

import type { BranchFiles } from "../chat/branch-files";
import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import { forkConversation } from "../commands/forking";
import type { Conversations } from "../conversations";
import { entryOf, entryText } from "../entries";
import { counted, oneLine } from "../format";
import type { TreeNode } from "../protocol.gen";
import { askLabel, pin } from "./marking";
import type { BranchFilter, BranchRow } from "./rows";
import { switchBranch } from "./switching";
import type { BranchesView } from "./view";

const FILTERS: readonly { label: string; detail: string; filter: BranchFilter }[] = [
  { label: "My Messages", detail: "What you asked, compactions, and the alternatives at branch points.", filter: "mine" },
  { label: "Branch Points", detail: "The alternatives at branch points.", filter: "branches" },
  { label: "Labelled", detail: "What has a label or is pinned.", filter: "labelled" },
  { label: "Everything", detail: "Every entry.", filter: "all" },
];
const MOST_CHOICES = 1000;
/** In milliseconds: time to read a line (a guess). */
const STATUS_MS = 5000;

/** The commands of the Branches view, on the node they were called on. */
export function registerBranchCommands(
  commands: Commands,
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
  view: BranchesView,
  branchFiles: BranchFiles,
): void {
  const goTo = async (entryId: string) => switchBranch(client, chat, branchFiles, conversations.current, entryId);

  commands.add("coppice.branches.switch", onRow(async (row: BranchRow) => {
    const whole = view.isFolded(row) ? await client.request("coppice/branchEnd", { conversationId: conversations.current, entryId: row.id }) : undefined;
    await goTo(whole?.leafId ?? row.endId);
  }));
  commands.add("coppice.branches.goTo", onRow(({ endId }: BranchRow) => goTo(endId)));
  commands.add("coppice.branches.showCurrent", async () => {
    await vscode.commands.executeCommand("coppice.branches.focus");
    await view.reveal();
  });
  commands.add("coppice.branches.more", () => view.showMore());
  commands.add("coppice.branches.pin", onRow(({ id }: TreeNode) => pin(client, conversations.current, id, true)));
  commands.add("coppice.branches.unpin", onRow(({ id }: TreeNode) => pin(client, conversations.current, id, false)));
  commands.add("coppice.branches.filter", async () => {
    const items = FILTERS.map((item) => ({ ...item, picked: item.filter === view.filter }));
    const picked = await vscode.window.showQuickPick(items, { title: "Show in Branches" });
    if (picked !== undefined) view.show(picked.filter);
  });
  commands.add("coppice.branches.fork", onRow(({ endId }: BranchRow) => forkConversation(client, conversations, chat, endId)));
  commands.add("coppice.branches.copy", onRow(async ({ id }: TreeNode) => {
    const entry = await entryOf(client, conversations.current, id);
    await vscode.env.clipboard.writeText(entryText(entry));
  }));
  commands.add("coppice.branches.label", onRow(({ id, label }: TreeNode) => askLabel(client, conversations.current, id, label)));
  commands.add("coppice.switchBranch", async () => {
    const node = await pickNode(client, conversations.current);
    if (node !== undefined) await goTo(node.id);
  });
}

/** A menu that was opened while the list changed has no row any more: VS Code then passes none. */
export function onRow<Row>(work: (row: Row) => Promise<unknown>): (row?: Row) => Promise<void> {
  return async (row) => {
    if (row === undefined) vscode.window.setStatusBarMessage("The branches changed meanwhile. Open the menu again.", STATUS_MS);
    else await work(row);
  };
}

/** Ends of branches first: they are what one switches to. */
async function pickNode(client: CoppiceClient, conversationId: string): Promise<TreeNode | undefined> {
  const list = async () => {
    const { nodes, leafId } = await client.request("coppice/tree", { conversationId, mode: "branches", limit: MOST_CHOICES });
    const others = nodes.filter(({ id }) => id !== leafId);
    const ends = others.filter(({ childCount }) => childCount === 0);
    const between = others.filter(({ childCount }) => childCount > 0);
    const kind = vscode.QuickPickItemKind.Separator;
    return [
      { label: "Branches", kind, node: undefined },
      ...ends.map(choice),
      { label: "Forks, compactions and labels", kind, node: undefined },
      ...between.map(choice),
    ];
  };
  const picked = await vscode.window.showQuickPick(list(), {
    title: "Switch Branch",
    placeHolder: "Where to? What is left stays in the tree.",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.node;
}

function choice(node: TreeNode): vscode.QuickPickItem & { node: TreeNode } {
  const preview = oneLine(node.preview) || node.type;
  return {
    label: node.label === undefined ? preview : oneLine(node.label),
    description: [node.onCurrentPath ? "on the current path" : "", counted(node.runLength ?? 1, "entry", "entries")]
      .filter((part) => part !== "")
      .join(" · "),
    ...(node.label === undefined ? {} : { detail: preview }),
    node,
  };
}
