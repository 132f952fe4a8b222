/** The newest turn of a conversation, as far as it concerns the files of the workspace. */
import { changeOf } from "../agent/file-change";
import type { CoppiceClient } from "../client";
import type { Entry } from "../protocol.gen";
import { stateOf } from "./branch-states";

const PAGE = 100;
/** Entries that are looked through for a turn's beginning; as many as for a recorded state. */
const MOST_ENTRIES = 2000;

export interface TurnSpan {
  /** The user's message. */
  entryId: string;
  leafId: string;
  /** The states of the files at the user's message, and after the last tool that changes something. */
  from: string;
  to: string;
  /** The calls that edited a file. */
  toolCallIds: string[];
}

/** Undefined where no file has changed, as far as that was recorded. */
export async function newestTurn(client: Pick<CoppiceClient, "request">, conversationId: string): Promise<TurnSpan | undefined> {
  let leafId: string | undefined;
  let to: string | undefined;
  let before: string | undefined;
  const toolCallIds: string[] = [];
  for (let read = 0; read < MOST_ENTRIES; read += PAGE) {
    const page: { entries: Entry[]; nextBefore?: string } = await client.request("coppice/entries", { conversationId, backward: true, limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const entry of page.entries.toReversed()) {
      leafId ??= entry.id;
      const state = stateOf(entry);
      if (entry.type !== "message") continue;
      if (entry.message.role === "user") {
        return state === undefined || to === undefined || state === to ? undefined : { entryId: entry.id, leafId, from: state, to, toolCallIds };
      }
      to ??= state;
      if (entry.message.role === "toolResult" && changeOf(entry.message.details) !== undefined) toolCallIds.push(entry.message.toolCallId);
    }
    before = page.nextBefore;
    if (before === undefined) return undefined;
  }
  return undefined;
}
