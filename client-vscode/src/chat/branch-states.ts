import type * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { entryText } from "../entries";
import type { Entry, TreeResult } from "../protocol.gen";

const PAGE = 100;
/** As many entries as the server gives at once. */
const TREE_PAGE = 1000;
/** Entries that are looked through for a recorded state. A guess: more than a long turn has. */
const MOST_ENTRIES = 2000;
const KEY = "coppice.branchStates";
/** Branches of which a state is remembered. A guess: more than a workspace's conversations have. */
const MOST_BRANCHES = 500;

/** The state of a branch. */
export interface BranchState {
  state: string;
  /** The conversation went there without its files: those on the disk are of another branch, and the user's changes of them are since this state. */
  base?: string | undefined;
}

/** Undefined is a state that was not recorded. */
interface RecordedState extends Omit<BranchState, "state"> {
  leafId: string | undefined;
  state: string | undefined;
  /** A message of the user's has come since, whose state was not recorded. */
  isOld: boolean;
}

/** Which recorded states of the files belong to the branches of a conversation. */
export class BranchStates {
  constructor(
    private readonly client: CoppiceClient,
    private readonly memory: vscode.Memento,
  ) {}

  /**
   * The newest state on the path to an entry, by default to the leaf. `remembers`: also what is remembered of an entry
   * at which the path ended, since the user may have changed files after its last turn; a base it has in any case.
   */
  async at(conversationId: string, entryId?: string, remembers = true): Promise<RecordedState> {
    let leafId: string | undefined;
    let isOld = false;
    let newest: BranchState | undefined;
    for await (const entry of this.#path(conversationId, entryId)) {
      // Going to a message of the user's is going to before it.
      const isBefore = leafId === undefined && entryId !== undefined && isAsked(entry);
      leafId ??= entry.id;
      const remembered = isBefore ? undefined : this.of(conversationId, entry.id);
      newest ??= remembered;
      const state = (remembers ? remembered?.state : undefined) ?? stateOf(entry);
      if (state !== undefined) return { leafId, isOld, base: newest?.base, state };
      isOld ||= !isBefore && isAsked(entry);
    }
    return { leafId, isOld, state: undefined, ...remembers && this.of(conversationId, undefined) };
  }

  /** Whether no turn has begun since the conversation ended at an entry, or before the first one. */
  async isEnd(conversationId: string, leafId: string | undefined): Promise<boolean> {
    for await (const entry of this.#path(conversationId)) {
      if (entry.id === leafId) return true;
      if (entry.type === "message") return false;
    }
    return leafId === undefined;
  }

  /** Whether an entry, or what is before the first one, is on the way to the end of the conversation. */
  async isOnPath(conversationId: string, entryId: string | undefined): Promise<boolean> {
    for await (const { id } of this.#path(conversationId)) if (id === entryId) return true;
    return entryId === undefined;
  }

  /** A message of the user's with which the conversation begins: going there is going to before it. */
  async firstAsked(conversationId: string): Promise<string | undefined> {
    let after: string | undefined;
    for (let read = 0; read < MOST_ENTRIES; read += TREE_PAGE) {
      const page: TreeResult = await this.client.request("coppice/tree", { conversationId, limit: TREE_PAGE, ...after !== undefined && { after } });
      const first = page.nodes.find(({ parentId, role }) => parentId === null && role === "user");
      if (first !== undefined || page.nextAfter === undefined) return first?.id;
      after = page.nextAfter;
    }
    return undefined;
  }

  /** What was asked last on the path to an entry. */
  async lastAsked(conversationId: string, leafId: string | undefined): Promise<string> {
    if (leafId !== undefined) for await (const entry of this.#path(conversationId, leafId)) if (isAsked(entry)) return entryText(entry);
    return "";
  }

  /** What is remembered of a branch by its end, undefined before the first entry. */
  of(conversationId: string, leafId: string | undefined): BranchState | undefined {
    return this.memory.get<Record<string, BranchState>>(KEY, {})[`${conversationId}/${leafId ?? ""}`];
  }

  async remember(conversationId: string, leafId: string | undefined, state: BranchState): Promise<void> {
    const key = `${conversationId}/${leafId ?? ""}`;
    const others = Object.entries(this.memory.get<Record<string, BranchState>>(KEY, {})).filter(([other]) => other !== key);
    await this.memory.update(KEY, Object.fromEntries([...others, [key, state]].slice(-MOST_BRANCHES)));
  }

  /** The newest entries first. */
  async *#path(conversationId: string, leafId?: string): AsyncGenerator<Entry> {
    let before: string | undefined;
    for (let read = 0; read < MOST_ENTRIES; read += PAGE) {
      const params = { conversationId, backward: true, limit: PAGE, ...leafId !== undefined && { leafId }, ...before !== undefined && { before } };
      const page: { entries: Entry[]; nextBefore?: string } = await this.client.request("coppice/entries", params);
      yield* page.entries.toReversed();
      before = page.nextBefore;
      if (before === undefined) return;
    }
  }
}

export function stateOf(entry: Entry): string | undefined {
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  return message.role === "user" || message.role === "toolResult" ? message.workspaceState ?? undefined : undefined;
}

function isAsked(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "user";
}
