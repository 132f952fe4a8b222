import type * as vscode from "vscode";

import type { Rules } from "../permissions/rules";
import { Approvals } from "./approvals";

const KEY = "coppice.approvals";

/** The approvals of this window, which outlive it. */
export function windowApprovals({ workspaceState }: vscode.ExtensionContext, rules: Rules): Approvals {
  return new Approvals({
    read: () => workspaceState.get(KEY),
    write: (approvals) => void workspaceState.update(KEY, approvals.length === 0 ? undefined : approvals),
  }, rules);
}
