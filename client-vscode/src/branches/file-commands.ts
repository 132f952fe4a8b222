import * as vscode from "vscode";

import type { BranchFiles } from "../chat/branch-files";
import type { Commands } from "../commands/registry";
import type { Conversations } from "../conversations";
import { notify } from "../notify";
import { onRow } from "./commands";
import type { BranchDifferences } from "./differences";
import type { BranchRow } from "./rows";

/** The commands of the Branches view about the files of the branch that they were called on, and the way back from them. */
export function registerBranchFileCommands(commands: Commands, conversations: Conversations, differences: BranchDifferences, branchFiles: BranchFiles): void {
  commands.add("coppice.undoFileChange", () => branchFiles.undoLast(conversations.current));
  commands.add("coppice.branches.showChanges", onRow((row: BranchRow) => differences.show(conversations.current, row)));
  commands.add("coppice.branches.compare", onRow((row: BranchRow) => differences.compare(conversations.current, row)));
  commands.add("coppice.branches.takeFiles", onRow((row: BranchRow) => differences.take(conversations.current, row)));
  let selected: { conversationId: string; row: BranchRow } | undefined;
  commands.add("coppice.branches.selectForCompare", onRow(async (row: BranchRow) => {
    selected = { conversationId: conversations.current, row };
    await vscode.commands.executeCommand("setContext", "coppice.branchSelected", true);
  }));
  commands.add("coppice.branches.compareWithSelected", onRow(async (row: BranchRow) => {
    if (selected?.conversationId === conversations.current) await differences.compare(selected.conversationId, row, selected.row);
    else void notify.info("The branch that was selected is of another conversation. Select one of this conversation.");
  }));
}
