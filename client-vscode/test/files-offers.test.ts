/** Questions about files that the end of the window left open. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { FilesOffers } from "../src/chat/files-offers";
import type { FilesOffer, ToPage } from "../src/chat/messages";

/** Windows, one after the other, that remember the same. */
function windows() {
  const stored = new Map<string, unknown>();
  const memory = { get: <T>(key: string, usual?: T) => (stored.get(key) ?? usual) as T, update: (key: string, value: unknown) => Promise.resolve(void stored.set(key, structuredClone(value))) };
  return (raw: Record<string, unknown> = {}) => {
    for (const [key, value] of Object.entries(raw)) stored.set(key, value);
    const drafts: [string, string][] = [];
    const offers = new FilesOffers({ post: () => undefined, putDraft: (id, text, options) => {
      assert.deepEqual(options, { afterOther: true }, "another draft stays");
      drafts.push([id, text]);
    } }, memory);
    /** What a page is given that is loaded now. */
    const shown = (): Record<string, FilesOffer> => {
      const given: ToPage[] = [];
      offers.greet((message) => { given.push(message); });
      return Object.fromEntries(given.flatMap((each) => (each.type === "filesOffer" && each.offer !== undefined ? [[each.conversationId, each.offer]] : [])));
    };
    return { offers, drafts, shown, kinds: () => Object.entries(shown()).map(([id, { kind }]) => [id, kind]) };
  };
}

test("a question that the window's end left open is named in the next one until that is read, with the text in the input", async () => {
  const open = windows();
  const first = open();
  void first.offers.keeping("resent", "Say three.", () => first.offers.ask("resent", "branch"));
  void first.offers.ask("restored", "restore");
  void first.offers.ask("cut", "unfinished");
  const second = open();
  assert.deepEqual([second.kinds(), second.drafts], [[["resent", "unanswered"], ["restored", "unanswered"]], [["resent", "Say three."]]]);
  const third = open();
  assert.deepEqual([third.kinds().length, third.drafts], [2, []], "what was put into the input is not put there again");
  await third.offers.take({ type: "answerFiles", id: third.shown()["resent"]?.id ?? "", choice: "cancel", always: false });
  void third.offers.ask("restored", "unfinished");
  assert.deepEqual(open().kinds(), []);
});

test("a text is in the input of the next window until what comes before it is sent has been done or has failed", async () => {
  const open = windows();
  const { offers, shown } = open();
  let done = (): void => undefined;
  const work = offers.keeping("c", "Say three.", async () => {
    const choice = await offers.ask("c", "branch");
    await new Promise<void>((resolve) => { done = resolve; });
    return choice;
  });
  await offers.take({ type: "answerFiles", id: shown()["c"]?.id ?? "", choice: "both", always: false });
  await new Promise(setImmediate);
  done();
  assert.equal(await work, "both");
  await assert.rejects(offers.keeping("c", "Say four.", () => Promise.reject(new Error("failed"))), /failed/);
  const ended = open();
  assert.deepEqual([ended.kinds(), ended.drafts], [[], []]);
  void ended.offers.keeping("c", "Say five.", () => new Promise(() => undefined));
  assert.deepEqual(open().drafts, [["c", "Say five."]]);
});

test("a text that takes the place of another one is in the input of the next window", async () => {
  for (const second of ["Say four.", "Say three."]) {
    const open = windows();
    const { offers } = open();
    const first = offers.keeping("c", "Say three.", () => offers.ask("c", "branch"));
    void offers.keeping("c", second, () => offers.ask("c", "branch"));
    assert.equal(await first, "cancel");
    assert.deepEqual(open().drafts, [["c", second]]);
  }
});

test("what is stored and is no list of questions or texts is passed over", () => {
  for (const value of [{}, [1], "c", 1, null]) {
    const { drafts, kinds } = windows()({ "coppice.filesOffers": value, "coppice.textsToSend": Array.isArray(value) ? { c: 1 } : value });
    assert.deepEqual([drafts, kinds()], [[], []]);
  }
});
