/** States of conversations that were deleted while no window was open. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { DeletedStates } from "../../src/chat/deleted-states";
import type { CoppiceClient } from "../../src/client";
import { CoppiceError } from "../../src/errors";
import type { Conversation, ErrorCode } from "../../src/protocol.gen";
import type { WorkspaceSnapshots } from "../../src/snapshots/workspace";
import { Workspace } from "./recorded";

/** A server with these conversations, each with what it was forked from, that lists two at a time. */
function serverWith(stored: Record<string, string | undefined>, code: ErrorCode = "unknown-conversation"): Pick<CoppiceClient, "request"> {
  const conversations = Object.entries(stored).map(([id, original]) => ({ id, parentConversationId: original }) as Conversation);
  const answers: Record<string, (params: { conversationId?: string; cursor?: string | null }) => object> = {
    "coppice/usage": ({ conversationId }) => {
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

type Memory = ConstructorParameters<typeof DeletedStates>[2];

const DAY = 24 * 3600 * 1000;

function memory(): Memory {
  const values = new Map<string, unknown>();
  const update = (key: string, value: unknown) => Promise.resolve(void values.set(key, value));
  return { get: (key: string, usual?: unknown) => values.get(key) ?? usual, update } as Memory;
}

/** Looks today and after thirty days, with the same server. */
async function looks(server: ReturnType<typeof serverWith>, snapshots: WorkspaceSnapshots): Promise<void> {
  const marks = memory();
  for (const day of [0, 30]) await new DeletedStates(server, snapshots, marks).look(day * DAY);
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

test("states of conversations that are missing for a month go, also those of a window before", async () => {
  await using place = await recorded(["gone", "../odd id\n", "also gone", "there"]);
  await looks(serverWith({ "there": undefined, "../odd id\n": undefined }), place.workspace.open());
  assert.deepEqual(await place.left(), [false, true, false, true]);
  assert.deepEqual(await place.workspace.open().conversations().then((ids) => ids.sort()), ["../odd id\n", "there"]);
  assert.deepEqual(place.workspace.warnings, []);
});

test("a conversation that comes back with its store has its states, and the month begins anew", async () => {
  await using place = await recorded(["away", "there"]);
  const [away, back] = [serverWith({ "there": undefined }), serverWith({ "there": undefined, "away": undefined })];
  const marks = memory();
  for (const [day, server] of [[0, away], [29, away], [40, back], [41, away], [70, away]] as const) await new DeletedStates(server, place.workspace.snapshots, marks).look(day * DAY);
  assert.deepEqual(await place.left(), [true, true]);
  await new DeletedStates(away, place.workspace.snapshots, marks).look(71 * DAY);
  assert.deepEqual(await place.left(), [false, true]);
});

test("forks that were made meanwhile, and forks of them, keep what the deleted original has", async () => {
  await using place = await recorded(["gone", "original", "there"]);
  const server = serverWith({ "there": undefined, "x": undefined, "y": undefined, "fork": "original", "second": "fork" });
  await looks(server, place.workspace.snapshots);
  assert.deepEqual(await place.left(), [false, true, true]);
  assert.deepEqual(await place.workspace.snapshots.conversations().then((ids) => ids.sort()), ["fork", "second", "there"]);
  await looks(serverWith({ "there": undefined }), place.workspace.snapshots);
  assert.deepEqual(await place.left(), [false, false, true]);
});

test("nothing goes where the store cannot be read, has none of the conversations, or a fork of an unknown one", async () => {
  await using place = await recorded(["one", "two"]);
  await looks(serverWith({ "two": undefined }, "storage-failed"), place.workspace.snapshots);
  assert.match(place.workspace.warnings.join(), /deleted conversations is not known/);
  await looks(serverWith({ "other": undefined }), place.workspace.snapshots);
  await looks(serverWith({ "two": undefined, "fork": "between" }), place.workspace.snapshots);
  assert.deepEqual(await place.left(), [true, true]);
});

test("the first chat of a window has them looked for, once and not at once", () => {
  const conversations = mock.fn(() => Promise.resolve([]));
  const states = new DeletedStates(serverWith({}), { conversations } as never, memory());
  mock.timers.enable({ apis: ["setTimeout"] });
  for (let page = 0; page < 2; page += 1) states.greet();
  const before = conversations.mock.callCount();
  mock.timers.tick(600_000);
  mock.timers.reset();
  assert.deepEqual([before, conversations.mock.callCount()], [0, 1]);
});
