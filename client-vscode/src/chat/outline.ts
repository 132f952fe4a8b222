import type { OutlineResult } from "../protocol.gen";

/** What is shown around a message, apart from its content. */
export interface Mark {
  label?: string;
  pinned?: boolean;
  /** The branches that begin here: the entries they begin with, oldest first, and which of them is shown. */
  alternatives?: { ids: readonly string[]; at: number };
}

export type Marks = ReadonlyMap<string, Mark>;

/** The marks of a path. A mark that has not changed is the one of `before`, so that its message is not drawn again. */
export function marksOf(outline: OutlineResult | undefined, before: Marks = new Map()): Marks {
  const marks = new Map<string, Mark>();
  const add = (id: string, more: Mark): void => { marks.set(id, { ...marks.get(id), ...more }); };
  for (const { entryId, label, pinned } of outline?.marks ?? []) {
    add(entryId, { ...(label === undefined ? {} : { label }), ...(pinned === true ? { pinned } : {}) });
  }
  for (const { entryId, alternatives } of outline?.forks ?? []) {
    add(entryId, { alternatives: { ids: alternatives, at: alternatives.indexOf(entryId) } });
  }
  for (const [id, mark] of marks) {
    const known = before.get(id);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(mark)) marks.set(id, known);
  }
  return marks;
}

/** The entry from which on the model is sent the conversation word for word; undefined where that is all of it. */
export function viewStart(outline: OutlineResult | undefined): string | undefined {
  const newest = outline?.compactions.at(-1);
  return newest?.firstKeptEntryId ?? newest?.entryId;
}
