/** Finds the place of an entry that shows nothing of its own among the items of a conversation. */
import type { Entry } from "../../src/protocol.gen";
import type { Item } from "./items";

/** The entry that follows, by the id of one that is no item. */
export type Successors = ReadonlyMap<string, string>;

/** `before` with what `entries` follow; `items` are those with the entries in them. */
export function withSuccessors(before: Successors, items: readonly Item[], entries: readonly Entry[]): Successors {
  const shown = new Set(items.map(({ id }) => id));
  const added = entries.flatMap(({ id, parentId }) => (parentId === null || shown.has(parentId) ? [] : [[parentId, id] as const]));
  return added.length === 0 ? before : new Map([...before, ...added]);
}

/** The first item from an entry on; undefined where that part of the conversation has not been read. */
export function firstItemFrom(entryId: string | undefined, items: readonly Item[], successors: Successors): string | undefined {
  const shown = new Set(items.map(({ id }) => id));
  let at = entryId;
  for (let left = successors.size; at !== undefined && !shown.has(at); left -= 1) at = left > 0 ? successors.get(at) : undefined;
  return at;
}
