import { hash } from "./change";
import type { FileChange } from "./file-change";

/** How many edits are remembered. A guess: more than a workspace's conversations show. */
const MOST = 2000;

/** Where hashes are kept over a reload of the window: `vscode.Memento` with one key. */
export interface MadeMemory {
  read(): readonly string[];
  write(hashes: readonly string[]): void;
}

/** The edits that our tools made in this workspace. What another conversation says of edits is not among them. */
export class MadeEdits {
  constructor(private readonly memory: MadeMemory) {}

  add(change: FileChange): void {
    this.memory.write([...this.memory.read(), hashOf(change)].slice(-MOST));
  }

  has(change: FileChange): boolean {
    return this.memory.read().includes(hashOf(change));
  }
}

function hashOf({ path, patch, before, after }: FileChange): string {
  return hash(JSON.stringify([path, patch, before, after]));
}
