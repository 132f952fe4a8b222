import assert from "node:assert/strict";
import { test } from "node:test";

import { Works } from "../src/chat/works";
import type { CoppiceClient } from "../src/client";
import { ProgressFeed } from "../src/progress/feed";

function watched() {
  const listeners = new Map<string, (params: unknown) => void>();
  let setState = (_state: string): void => undefined;
  const progress = new ProgressFeed();
  const reports: unknown[][] = [];
  const client = {
    progress,
    onNotification: (method: string, listener: (params: unknown) => void) => listeners.set(method, listener),
    onDidChangeState: (listener: typeof setState) => { setState = listener; },
  } as unknown as CoppiceClient;
  const works = new Works(client, () => "shown", {
    work: (...report) => { reports.push(["work", ...report]); },
    background: (...report) => { reports.push(["background", ...report]); },
  });
  return { works, progress, reports, notify: (status: string | null) => listeners.get("coppice/backgroundCompactionChanged")?.({ conversationId: "other", status }), end: () => { setState("stopped"); } };
}

test("a compaction in the background is no work that keeps a conversation busy, and belongs to its own", () => {
  const { works, progress, reports, notify } = watched();
  notify("writing");
  progress.take("t", { kind: "begin", title: "Compacting in the background" });
  progress.take("t", { kind: "report", percentage: 40 });
  progress.take("t", { kind: "end", message: "The summary is ready for the next compaction" });
  notify("ready");
  assert.deepEqual(reports, [["background", "other", "writing"], ["background", "other", "ready"]]);
  assert.equal(works.of("shown"), undefined);
  assert.equal(works.backgroundOf("other"), "ready");
});

test("what was prepared ends with its server", () => {
  const { works, reports, notify, end } = watched();
  notify("ready");
  end();
  assert.equal(works.backgroundOf("other"), undefined);
  assert.deepEqual(reports.at(-1), ["background", "other", undefined]);
});
