/** The conversation of the laboratory as the server keeps it. */
export type Files = Record<string, string>;

export interface Stored {
  id: string;
  parentId: string | undefined;
  type: string;
  message?: object;
  /** What the disk had when a turn stored it. */
  disk?: Files;
}

/** A conversation on the server. */
export class Tree {
  readonly entries = new Map<string, Stored>();
  readonly notes: string[] = [];
  leafId: string | undefined;

  add(entry: Omit<Stored, "id" | "parentId">): void {
    const id = `e${this.entries.size}`;
    this.entries.set(id, { id, parentId: this.leafId, ...entry });
    this.leafId = id;
  }

  /** The newest first. */
  path(leafId = this.leafId): Stored[] {
    const entry = leafId === undefined ? undefined : this.entries.get(leafId);
    return entry === undefined ? [] : [entry, ...(entry.parentId === undefined ? [] : this.path(entry.parentId))];
  }

  navigate(targetId: string): object {
    const target = this.entries.get(targetId);
    this.leafId = isAsked(target) ? target?.parentId : targetId;
    return { leafId: this.leafId ?? null, cancelled: false };
  }

  request(method: string, { leafId = this.leafId, targetId = "", entries = [] }: { leafId?: string; targetId?: string; entries?: { content: string }[] }): object {
    if (method === "coppice/navigate") return this.navigate(targetId);
    if (method === "coppice/tree") return { nodes: [...this.entries.values()].map((entry) => ({ id: entry.id, parentId: entry.parentId ?? null, role: isAsked(entry) ? "user" : "" })) };
    if (method === "coppice/entries") return { entries: this.path(leafId).reverse() };
    for (const { content } of entries) this.notes.push(content);
    if (entries.length > 0) this.add({ type: "custom_message" });
    return { conversations: [] };
  }
}

export function isAsked(entry: Stored | undefined): boolean {
  return entry?.message !== undefined && "role" in entry.message && entry.message.role === "user";
}
