/** States of conversations that were deleted while no window was open. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { BranchFiles } from "../../src/chat/branch-files";
import { forgetDeleted } from "../../src/chat/deleted-states";
import type { CoppiceClient } from "../../src/client";
import { CoppiceError } from "../../src/errors";
import type { Conversation, ErrorCode } from "../../src/protocol.gen";
import { Workspace } from "./recorded";

/** A server with these conversations, each with what it was forked from, that lists two at a time. */
function serverWith(stored: Record<string, string | undefined>, code: ErrorCode = "unknown-conversation"): Pick<CoppiceClient, "request"> {
  const conversations = Object.entries(stored).map(([id, original]) => ({ id, parentConversationId: original }) as Conversation);
  const answers: Record<string, (params: { conversationId?: string; cursor?: string | null }) => object> = {
    "coppice/conversation/get": ({ conversationId }) => {
      const conversation = conversations.find(({ id }) => id === conversationId);
      if (conversation === undefined) throw new CoppiceError("It is not there.", code);
      return { conversation };
    },
    "coppice/conversation/list": ({ cursor }) => {
      const at = Number(cursor ?? 0);
      return { conversations: conversations.slice(at, at + 2), ...(at + 2 < conversations.length ? { nextCursor: String(at + 2) } : {}) };
    },
  };
  return { request: (method: string, params: object) => Promise.resolve(params).then((given) => answers[method]?.(given)) } as never;
}

/** A workspace with a state of each of these conversations, and one of now. */
async function recorded(ids: readonly string[]) {
  const workspace = await Workspace.with({});
  const states: string[] = [];
  for (const id of ids) {
    await workspace.write({ "a": id });
    states.push((await workspace.snapshots.take(id)) ?? "");
  }
  const isThere = async (state: string | undefined): Promise<boolean> =>
    workspace.open().differences(states.at(-1) ?? "", state ?? "").then(() => true, () => false);
  const left = async (): Promise<boolean[]> => Promise.all(states.map(isThere));
  return { workspace, left, [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose]() };
}

test("states of conversations that are in no store any more go, also those of a window before", async () => {
  await using place = await recorded(["gone", "../odd id\n", "also gone", "there"]);
  await forgetDeleted(serverWith({ "there": undefined, "../odd id\n": undefined }), place.workspace.open());
  assert.deepEqual(await place.left(), [false, true, false, true]);
  assert.deepEqual(await place.workspace.open().conversations().then((ids) => ids.sort()), ["../odd id\n", "there"]);
  assert.deepEqual(place.workspace.warnings, []);
});

test("a fork that was made meanwhile keeps what the deleted original has", async () => {
  await using place = await recorded(["gone", "original", "there"]);
  const server = serverWith({ "there": undefined, "x": undefined, "y": undefined, "fork": "original" });
  await forgetDeleted(server, place.workspace.snapshots);
  assert.deepEqual(await place.left(), [false, true, true]);
  assert.deepEqual(await place.workspace.snapshots.conversations().then((ids) => ids.sort()), ["fork", "there"]);
  await forgetDeleted(serverWith({ "there": undefined }), place.workspace.snapshots);
  assert.deepEqual(await place.left(), [false, false, true]);
});

test("the first chat of a window has them looked for, once and not at once", () => {
  const conversations = mock.fn(() => Promise.resolve([]));
  const snapshots = { conversations, readAhead: () => Promise.resolve() };
  const files = new BranchFiles(undefined as never, { onNotification: () => undefined } as never, snapshots as never, undefined as never, undefined as never, undefined as never);
  mock.timers.enable({ apis: ["setTimeout"] });
  for (let page = 0; page < 2; page += 1) files.greet(() => undefined);
  const before = conversations.mock.callCount();
  mock.timers.tick(600_000);
  mock.timers.reset();
  assert.deepEqual([before, conversations.mock.callCount()], [0, 1]);
});

test("nothing goes where the store cannot be read, or has none of the conversations", async () => {
  await using place = await recorded(["one", "two"]);
  await forgetDeleted(serverWith({ "two": undefined }, "storage-failed"), place.workspace.snapshots);
  assert.match(place.workspace.warnings.join(), /deleted conversations is not known/);
  await forgetDeleted(serverWith({ "other": undefined }), place.workspace.snapshots);
  assert.deepEqual(await place.left(), [true, true]);
});
