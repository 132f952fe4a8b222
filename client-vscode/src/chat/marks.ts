import type { OutlineResult } from "../protocol.gen";

/** What is shown around a message, apart from its content. */
export interface Mark {
  label?: string;
  pinned?: boolean;
  /** The branches that begin here: the entries they begin with, oldest first, and which of them is shown. */
  alternatives?: { ids: readonly string[]; at: number };
  /** The model sees what follows word for word, and of what is above a summary. */
  beginsView?: boolean;
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
  const newest = outline?.compactions.at(-1);
  if (newest !== undefined) add(newest.firstKeptEntryId ?? newest.entryId, { beginsView: true });
  for (const [id, mark] of marks) {
    const known = before.get(id);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(mark)) marks.set(id, known);
  }
  return marks;
}
