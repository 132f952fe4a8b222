import assert from "node:assert/strict";
import { test } from "node:test";

import { type Ended, ProgressFeed, type Work } from "../src/progress/feed";

function watched(): { feed: ProgressFeed; reported: (Work | Ended | undefined)[] } {
  const feed = new ProgressFeed();
  const reported: (Work | Ended | undefined)[] = [];
  feed.listen((_token, work, ended) => { reported.push(work ?? ended); });
  return { feed, reported };
}

test("a report that leaves something out leaves it as it was", () => {
  const { feed, reported } = watched();
  feed.take("a", { kind: "begin", title: "Compacting", percentage: 0 });
  feed.take("a", { kind: "report", percentage: 40, message: "asking" });
  feed.take("a", { kind: "report", message: "checking" });
  feed.take("a", { kind: "end", message: "142k → 23k tokens" });
  assert.deepEqual(reported.slice(1), [
    { title: "Compacting", percentage: 40, message: "asking" },
    { title: "Compacting", percentage: 40, message: "checking" },
    { title: "Compacting", message: "142k → 23k tokens" },
  ]);
  assert.equal(feed.latest, undefined);
});

test("of several works the one that began last is shown, then the other", () => {
  const { feed } = watched();
  const titles: (string | undefined)[] = [];
  feed.listen(() => { titles.push(feed.latest?.title); });
  feed.take(1, { kind: "begin", title: "Compacting" });
  feed.take(2, { kind: "begin", title: "Summarizing" });
  feed.take(2, { kind: "end" });
  feed.take(1, { kind: "end" });
  assert.deepEqual(titles, ["Compacting", "Summarizing", "Compacting", undefined]);
});

test("what never began is not reported", () => {
  const { feed, reported } = watched();
  feed.take(1, { kind: "report", percentage: 1 });
  feed.take(1, { kind: "end" });
  assert.equal(reported.length, 0);
});

test("what began ends when the server is gone", () => {
  const { feed, reported } = watched();
  feed.take(2, { kind: "begin", title: "Compacting" });
  feed.clear();
  assert.deepEqual(reported.slice(1), [{ title: "Compacting" }]);
});
