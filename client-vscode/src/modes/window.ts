import type * as vscode from "vscode";

import { Modes } from "./modes";

const KEY = "coppice.modes";

/** The modes of this workspace's conversations. */
export function windowModes({ workspaceState }: vscode.ExtensionContext): Modes {
  return new Modes({ read: () => workspaceState.get(KEY), write: (all) => void workspaceState.update(KEY, Object.keys(all).length === 0 ? undefined : all) });
}
