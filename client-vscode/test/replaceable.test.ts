import assert from "node:assert/strict";
import { test } from "node:test";

import { Replaceable } from "../src/server/replaceable";

class Launches {
  readonly alive = new Set<number>();
  readonly failures: unknown[] = [];
  stops = 0;
  made = 0;
  /** What the next launch waits for. */
  before: () => Promise<void> = () => Promise.resolve();
  readonly servers = new Replaceable<number>(
    {
      launch: async () => {
        const number = ++this.made;
        await this.before();
        this.alive.add(number);
        return number;
      },
      end: (number) => {
        this.alive.delete(number);
        return Promise.resolve();
      },
      onFailed: (error) => this.failures.push(error),
      onStopped: () => this.stops++,
    },
    50,
  );
}

const nothing = (): Promise<void> => Promise.resolve();

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => { open = resolve; });
  return { opened, open };
}

test("a server is started once, and again after it was stopped", async () => {
  const { servers, alive } = new Launches();
  assert.deepEqual(await Promise.all([servers.start(), servers.newest()]), [1, 1]);
  await servers.stop();
  assert.deepEqual([...alive], []);
  assert.equal(await servers.start(), 2);
});

test("who asks while the server is replaced gets the new one, which starts after the change", async () => {
  const launches = new Launches();
  const { servers, alive } = launches;
  await servers.start();
  const { opened, open } = gate();
  const replacing = servers.replace(() => opened);
  const asked = servers.newest();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(launches.made, 1);
  open();
  assert.equal(await asked, 2);
  await replacing;
  assert.deepEqual([...alive], [2]);
});

test("of two replacements at once the last one's server is there, and nobody gets the other", async () => {
  const { servers, alive } = new Launches();
  await servers.start();
  const first = servers.replace(nothing);
  const asked = servers.newest();
  const second = servers.replace(nothing);
  await Promise.all([first, second]);
  const last = await servers.start();
  assert.equal(await asked, last);
  assert.deepEqual([...alive], [last]);
});

test("a start that fails after it was replaced neither ends nor hides the new server", async () => {
  const launches = new Launches();
  const { servers, alive, failures } = launches;
  const { opened, open } = gate();
  launches.before = async () => { await opened; throw new Error("no program"); };
  const failing = assert.rejects(servers.start(), /no program/);
  const asked = servers.newest();
  await new Promise(setImmediate); // The launch has begun.
  const replacing = servers.replace(() => { launches.before = nothing; return nothing(); });
  open();
  await Promise.all([failing, replacing]);
  assert.equal(await asked, 2);
  assert.equal(await servers.start(), 2);
  assert.deepEqual([...alive], [2]);
  assert.deepEqual(failures, []);
});

test("a start that fails is reported, and the next one tries again", async () => {
  const launches = new Launches();
  launches.before = () => Promise.reject(new Error("no program"));
  await assert.rejects(launches.servers.newest(), /no program/);
  assert.equal(launches.failures.length, 1);
  launches.before = nothing;
  assert.equal(await launches.servers.start(), 2);
});

test("a server whose start hangs is replaced all the same, and ends when it can", async () => {
  const launches = new Launches();
  const { servers, alive } = launches;
  const { opened, open } = gate();
  launches.before = () => opened;
  const hanging = servers.start();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(launches.made, 1);
  const waiting = setTimeout(() => assert.fail("is not replaced"), 5000); // and keeps the process alive
  await servers.replace(() => { launches.before = nothing; return nothing(); });
  clearTimeout(waiting);
  assert.deepEqual([...alive], [2]);
  open();
  await hanging;
  await servers.stop();
  assert.deepEqual([...alive], []);
});

test("a change that fails is reported, and the server runs again", async () => {
  const { servers, alive } = new Launches();
  await servers.start();
  await assert.rejects(servers.replace(() => Promise.reject(new Error("no keychain"))), /no keychain/);
  assert.deepEqual([...alive], [2]);
});

test("a start that is stopped or replaced before its launch launches nothing", async () => {
  const launches = new Launches();
  const { servers } = launches;
  const starting = servers.start();
  const stopped = servers.stop();
  await assert.rejects(starting, /stopped before it was started/);
  await stopped;
  assert.equal(launches.made, 0);
  await Promise.all([servers.replace(nothing), servers.replace(nothing)]);
  assert.equal(launches.made, 1);
  assert.deepEqual(launches.failures, []);
});
