import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import type { Entry } from "../protocol.gen";

const PAGE = 100;
/** Entries that are looked through for a recorded state. A guess: more than a long turn has. */
const MOST_ENTRIES = 2000;
const KEY = "coppice.branchStates";
/** Branches of which a state is remembered. A guess: more than a workspace's conversations have. */
const MOST_BRANCHES = 500;

/** The state of a branch after its last turn. */
export interface BranchState {
  state: string;
  /** The conversation went there without its files: what is on the disk belongs to another branch. */
  isElsewhere: boolean;
}

/** Which recorded states of the files belong to the branches of a conversation. */
export class BranchStates {
  constructor(
    private readonly client: CoppiceClient,
    private readonly memory: vscode.Memento,
  ) {}

  /**
   * The state of the branch that ends at the entry, else the newest one on the path to the entry, by default to the leaf.
   * `remembers`: with what is remembered of the branch, which the user may have changed since its last turn.
   */
  async at(conversationId: string, entryId?: string, remembers = true): Promise<{ leafId: string | undefined; state: string | undefined }> {
    let leafId: string | undefined;
    let before: string | undefined;
    for (let read = 0; read < MOST_ENTRIES; read += PAGE) {
      const params = { conversationId, backward: true, limit: PAGE, ...(entryId === undefined ? {} : { leafId: entryId }), ...(before === undefined ? {} : { before }) };
      const page: { entries: Entry[]; nextBefore?: string } = await this.client.request("coppice/entries", params);
      const last = page.entries.at(-1);
      leafId ??= last?.id;
      // Going to a message of the user's is going to before it.
      const isAsked = last?.type === "message" && last.message.role === "user";
      const remembered = remembers && before === undefined && !isAsked ? this.of(conversationId, leafId)?.state : undefined;
      const state = remembered ?? page.entries.map(stateOf).findLast((each) => each !== undefined);
      if (state !== undefined || page.nextBefore === undefined) return { leafId, state };
      before = page.nextBefore;
    }
    return { leafId, state: undefined };
  }

  /** What is remembered of a branch by its end: the user may have changed files after its last turn. */
  of(conversationId: string, leafId: string | undefined): BranchState | undefined {
    return leafId === undefined ? undefined : this.memory.get<Record<string, BranchState>>(KEY, {})[`${conversationId}/${leafId}`];
  }

  async remember(conversationId: string, leafId: string | undefined, state: BranchState): Promise<void> {
    if (leafId === undefined) return;
    const key = `${conversationId}/${leafId}`;
    const others = Object.entries(this.memory.get<Record<string, BranchState>>(KEY, {})).filter(([other]) => other !== key);
    await this.memory.update(KEY, Object.fromEntries([...others, [key, state]].slice(-MOST_BRANCHES)));
  }
}

export function stateOf(entry: Entry): string | undefined {
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  return message.role === "user" || message.role === "toolResult" ? message.workspaceState ?? undefined : undefined;
}
