import * as vscode from "vscode";

import type { Chat } from "../chat/panel";
import type { CoppiceClient } from "../client";
import type { Commands } from "../commands/registry";
import { forkConversation } from "../commands/forking";
import type { Conversations } from "../conversations";
import { entryOf, entryText } from "../entries";
import { counted, oneLine } from "../format";
import type { TreeNode } from "../protocol.gen";
import { switchBranch } from "./switching";
import type { BranchesView } from "./view";

const MOST_CHOICES = 1000;

/** The commands of the Branches view, on the node they were called on. */
export function registerBranchCommands(
  commands: Commands,
  client: CoppiceClient,
  conversations: Conversations,
  chat: Chat,
  view: BranchesView,
): void {
  const switchTo = async ({ id }: TreeNode) => switchBranch(client, chat, conversations.current, id);
  const pin = async ({ id }: TreeNode, pinned: boolean) =>
    client.request("coppice/pin", { conversationId: conversations.current, entryId: id, pinned });

  commands.add("coppice.branches.switch", switchTo);
  commands.add("coppice.branches.more", () => view.showMore());
  commands.add("coppice.branches.pin", (node: TreeNode) => pin(node, true));
  commands.add("coppice.branches.unpin", (node: TreeNode) => pin(node, false));
  commands.add("coppice.branches.fork", ({ id }: TreeNode) => forkConversation(client, conversations, chat, id));
  commands.add("coppice.branches.copy", async ({ id }: TreeNode) => {
    const entry = await entryOf(client, conversations.current, id);
    await vscode.env.clipboard.writeText(entryText(entry));
  });
  commands.add("coppice.branches.label", async ({ id, label }: TreeNode) => {
    const prompt = "A name for this place. Empty takes it away.";
    const given = await vscode.window.showInputBox({ title: "Label", prompt, value: label ?? "" });
    if (given === undefined) return;
    const name = given.trim();
    await client.request("coppice/label", {
      conversationId: conversations.current,
      entryId: id,
      ...(name === "" ? {} : { label: name }),
    });
  });
  commands.add("coppice.switchBranch", async () => {
    const node = await pickNode(client, conversations.current);
    if (node !== undefined) await switchTo(node);
  });
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
