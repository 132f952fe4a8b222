import type { OutlineResult } from "../protocol.gen";

/** What is shown around a message, apart from its content. */
export interface Annotation {
  label?: string;
  pinned?: boolean;
  /** The branches that begin here: the entries they begin with, oldest first, and which of them is shown. */
  alternatives?: { ids: readonly string[]; at: number };
}

export type Annotations = ReadonlyMap<string, Annotation>;

/** The annotations of a path. One that has not changed is the one of `before`, so that its message is not drawn again. */
export function annotationsOf(outline: OutlineResult | undefined, before: Annotations = new Map()): Annotations {
  const annotations = new Map<string, Annotation>();
  const add = (id: string, more: Annotation): void => { annotations.set(id, { ...annotations.get(id), ...more }); };
  for (const { entryId, label, pinned } of outline?.marks ?? []) {
    add(entryId, { ...(label === undefined ? {} : { label }), ...(pinned === true ? { pinned } : {}) });
  }
  for (const { entryId, alternatives } of outline?.forks ?? []) {
    add(entryId, { alternatives: { ids: alternatives, at: alternatives.indexOf(entryId) } });
  }
  for (const [id, annotation] of annotations) {
    const former = before.get(id);
    if (former !== undefined && JSON.stringify(former) === JSON.stringify(annotation)) annotations.set(id, former);
  }
  return annotations;
}

/** The entry from which on the model is sent the conversation word for word; undefined where that is all of it. */
export function viewStart(outline: OutlineResult | undefined): string | undefined {
  const newest = outline?.compactions.at(-1);
  return newest?.firstKeptEntryId ?? newest?.entryId;
}
