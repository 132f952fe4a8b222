import type * as vscode from "vscode";

import { Approvals } from "./approvals";

const KEY = "coppice.approvals";

/** The approvals of this window, which outlive it. */
export function windowApprovals({ workspaceState }: vscode.ExtensionContext): Approvals {
  return new Approvals({
    read: () => workspaceState.get(KEY),
    write: (approvals) => void workspaceState.update(KEY, approvals.length === 0 ? undefined : approvals),
  });
}
