import assert from "node:assert/strict";
import { test } from "node:test";

import type { ToPage } from "../src/chat/messages";
import { ShownConversation } from "../src/chat/shown";
import type { CoppiceClient } from "../src/client";
import { CoppiceError } from "../src/errors";
import type { EntriesParams, Entry, OutlineResult } from "../src/protocol.gen";

/** A conversation of questions in a server's memory, of which paths are read. */
class Talk {
  readonly parents = new Map<string, string | null>();
  leafId: string | null = null;
  labels: OutlineResult["marks"] = [];

  put(id: string, parentId: string | null): void {
    this.parents.set(id, parentId);
    this.leafId = id;
  }

  path(leafId: string | null | undefined): Entry[] {
    const path: Entry[] = [];
    for (let at: string | null = leafId ?? this.leafId; at !== null; at = this.parents.get(at) ?? null) {
      path.unshift({ id: at, parentId: this.parents.get(at) ?? null, timestamp: "", type: "message", message: { role: "user", content: at } });
    }
    return path;
  }

  answer(method: string, params: EntriesParams & { entryId?: string }): unknown {
    const path = this.path(params.leafId);
    switch (method) {
      case "coppice/conversation/get":
        return { conversation: { id: params.conversationId, name: "Talk", workspaceUri: "", createdAt: "", modifiedAt: "", leafId: this.leafId, entryCount: this.parents.size }, usage: {} };
      case "coppice/outline":
        return { leafId: path.at(-1)?.id ?? null, length: path.length, compactions: [], marks: this.labels, forks: [] };
      case "coppice/branchEnd":
        return { leafId: [...this.parents.keys()].findLast((id) => this.path(id).some((entry) => entry.id === params.entryId)) };
      case "coppice/entries":
        return this.#page(path, params);
      default:
        throw new Error(method);
    }
  }

  #page(path: Entry[], { backward, before, after, limit = 100 }: EntriesParams): unknown {
    const place = (id: string): number => {
      const at = path.findIndex((entry) => entry.id === id);
      if (at < 0) throw new CoppiceError("no such entry", "unknown-entry");
      return at;
    };
    if (backward !== true) return { entries: path.slice(typeof after === "string" ? place(after) + 1 : 0) };
    const end = typeof before === "string" ? place(before) : path.length;
    const from = Math.max(0, end - limit);
    return { entries: path.slice(from, end), ...(from > 0 ? { nextBefore: path[from]?.id } : {}) };
  }
}

/** What a page is posted, in short. */
function open(talk: Talk): { shown: ShownConversation; posted: string[] } {
  const posted: string[] = [];
  const client = { request: (method: string, params: EntriesParams) => Promise.resolve().then(() => talk.answer(method, params)) };
  const idle = { isRunning: () => false, pieces: () => [], of: () => undefined, backgroundOf: () => undefined, noteElsewhere: () => undefined, isElsewhere: () => false };
  const post = (message: ToPage): void => {
    if (message.type === "shown") posted.push(`shown ${message.entries.at(-1)?.id ?? "nothing"}${message.preview === undefined ? "" : " to look at"}`);
    else if (message.type === "reveal") posted.push(`reveal ${message.entryId}`);
    else if (message.type === "earlier" || message.type === "grown") posted.push(`${message.type} ${message.entries.length}`);
    else posted.push(message.type);
  };
  return { shown: new ShownConversation(client as unknown as CoppiceClient, idle as never, idle as never, post), posted };
}

function branched(): Talk {
  const talk = new Talk();
  for (let at = 0; at < 3000; at += 1) talk.put(`a${at}`, at === 0 ? null : `a${at - 1}`);
  for (let at = 0; at < 3; at += 1) talk.put(`b${at}`, at === 0 ? "a1499" : `b${at - 1}`);
  return talk;
}

test("a branch is looked at up to its end, read back to the entry that was looked for, and left again", async () => {
  const talk = branched();
  const { shown, posted } = open(talk);
  await shown.show("c");
  await shown.look("c", "a1600");
  assert.deepEqual(posted.splice(0), ["shown b2", "shown a2999 to look at", "earlier 1000", "earlier 1000", "reveal a1600"]);
  assert.equal(talk.leafId, "b2");
  talk.put("b3", "b2");
  await shown.refresh();
  assert.deepEqual(posted.splice(0), []);
  shown.endPreview();
  await shown.show("c");
  await shown.reveal("b1");
  assert.deepEqual(posted, ["shown b3", "reveal b1"]);
});

test("the path grows, its marks follow, and another path is shown anew", async () => {
  const talk = branched();
  const { shown, posted } = open(talk);
  await shown.show("c");
  talk.put("b3", "b2");
  await shown.refresh();
  talk.labels = [{ entryId: "b1", label: "here" }];
  await shown.refresh();
  assert.equal(shown.labelOf("b1"), "here");
  await shown.refresh();
  talk.leafId = "a2999";
  await shown.refresh();
  assert.deepEqual(posted, ["shown b2", "grown 1", "outline", "outline", "shown a2999"]);
});

test("what was asked for before another conversation was opened is not shown", async () => {
  const { shown, posted } = open(branched());
  await Promise.all([shown.show("c"), shown.show("c"), shown.show(undefined)]);
  assert.deepEqual(posted, ["shown nothing"]);
});

test("looking at an entry of the current branch leads back to that branch", async () => {
  const { shown, posted } = open(branched());
  await shown.look("c", "a1600");
  assert.equal(shown.preview?.leafId, "a2999");
  await shown.look("c", "b1");
  assert.equal(shown.preview, undefined);
  assert.deepEqual(posted.filter((message) => message.startsWith("shown")), ["shown a2999 to look at", "shown b2"]);
});
