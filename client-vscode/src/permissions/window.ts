import type * as vscode from "vscode";

import { type RuleMemory, Rules } from "./rules";

const KEY = "coppice.permissions";

/** The rules of this window, its workspace and this machine, outside of every folder that a checkout fills. */
export function windowRules({ workspaceState, globalState }: vscode.ExtensionContext): Rules {
  return new Rules({ workspace: memoryOf(workspaceState), always: memoryOf(globalState) });
}

function memoryOf(memento: vscode.Memento): RuleMemory {
  return {
    read: () => memento.get(KEY),
    write: (rules) => void memento.update(KEY, rules.length === 0 ? undefined : rules),
  };
}
