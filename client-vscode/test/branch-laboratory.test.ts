/**
 * Random edits by an agent and the user, and random moves of a conversation among its branches with and without files,
 * some of them undone or cut off. COPPICE_LABORATORY_SECONDS says how long at least, COPPICE_LABORATORY_SEED where to begin.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Games } from "./branch-laboratory/games";
import { randomFrom } from "./random";
import { Workspace } from "./snapshots/recorded";

const SECONDS = Number(process.env["COPPICE_LABORATORY_SECONDS"] ?? 0);
/** Games that are played however long they take: some seconds each. */
const GAMES = 4;
const FIRST_SEED = Number(process.env["COPPICE_LABORATORY_SEED"] ?? Math.floor(Math.random() * 1e6));
const ROUNDS = 20;

async function play(seed: number): Promise<void> {
  await using workspace = await Workspace.with({ "x1.txt": "first\n" });
  const laboratory = new Games(workspace, randomFrom(seed), seed);
  try {
    for (let round = 0; round < ROUNDS; round += 1) await laboratory.step();
    assert.deepEqual(workspace.warnings, []);
  } catch (error) {
    throw new Error(`With COPPICE_LABORATORY_SEED=${seed}: ${laboratory.log.join("; ")}: ${String(error)}`, { cause: error });
  }
}

test(`random moves among branches: files come with their branch, nothing of the user's is lost, and the model is told (seed ${FIRST_SEED})`, { timeout: (SECONDS + 300) * 1000 }, async () => {
  const until = Date.now() + SECONDS * 1000;
  let seed = FIRST_SEED;
  while (seed < FIRST_SEED + GAMES || Date.now() < until) await play(seed++);
  console.log(`Laboratory of branches: seeds ${FIRST_SEED} to ${seed - 1}`);
});
