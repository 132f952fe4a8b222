import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { findTranscripts } from "../src/transcripts/find";
import { headIn } from "../src/transcripts/head";

let home = "";

beforeEach(() => { home = mkdtempSync(join(tmpdir(), "coppice-transcripts-")); });
afterEach(() => { rmSync(home, { recursive: true }); });

const FOLDER = "/home/a/my.shop";

/** Writes a session whose time is `second`. */
function session(path: string, second: number, ...records: object[]): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  utimesSync(file, second, second);
}

function claude(cwd: string, text: string): object[] {
  return [{ type: "file-history-snapshot" }, { type: "user", cwd, message: { role: "user", content: text } }];
}

function codex(cwd: string, ...texts: string[]): object[] {
  const records = texts.map((text) => ({ type: "response_item", payload: { type: "message", role: "user", content: [{ type: "input_text", text }] } }));
  return [{ type: "session_meta", payload: { id: "1", cwd, base_instructions: { text: "x".repeat(50_000) } } }, ...records];
}

async function found(folders = [FOLDER], variables = {}): Promise<string[]> {
  const transcripts = await findTranscripts(folders, { home, variables });
  return transcripts.map(({ agent, title }) => `${agent}: ${title}`);
}

test("the sessions of other agents in this workspace are found, the newest first", async () => {
  session(".claude/projects/-home-a-my-shop/1.jsonl", 100, ...claude(FOLDER, "Fix the prices\nplease"));
  session(".codex/sessions/2026/11/22/rollout-1.jsonl", 300, ...codex(FOLDER, "<environment_context>", "Add a test"));
  session(".pi/agent/sessions/--home-a-my.shop--/1.jsonl", 200, { type: "session", cwd: FOLDER }, { type: "message", message: { role: "user", content: [{ type: "text", text: "Read it" }] } });
  assert.deepEqual(await found(), ["Codex: Add a test", "Pi: Read it", "Claude Code: Fix the prices"]);
});

test("sessions of other folders are not offered, also where the name of their folder looks the same", async () => {
  session(".claude/projects/-home-a-my-shop/1.jsonl", 100, ...claude("/home/a/my/shop", "Elsewhere"));
  session(".codex/sessions/2026/11/22/rollout-1.jsonl", 100, ...codex("/home/a", "Above"));
  assert.deepEqual(await found(), []);
});

test("links, folders and what is no transcript are passed over", async () => {
  session("elsewhere.jsonl", 100, ...claude(FOLDER, "Linked"));
  session(".claude/projects/-home-a-my-shop/2.jsonl", 100, { type: "user" });
  session(".claude/projects/-home-a-my-shop/notes.txt", 100, ...claude(FOLDER, "Not a session"));
  mkdirSync(join(home, ".claude/projects/-home-a-my-shop/3.jsonl"));
  symlinkSync(join(home, "elsewhere.jsonl"), join(home, ".claude/projects/-home-a-my-shop/1.jsonl"));
  assert.deepEqual(await found(), []);
});

test("an agent's own variable names its folder", async () => {
  session("agents/sessions/2026/01/01/rollout-1.jsonl", 100, ...codex(FOLDER, "Add a test"));
  assert.deepEqual(await found([FOLDER], { CODEX_HOME: join(home, "agents") }), ["Codex: Add a test"]);
});

test("of very many sessions the newest are looked at", async () => {
  for (let day = 1; day <= 28; day += 1) {
    for (let number = 0; number < 25; number += 1) session(`.codex/sessions/2026/10/${String(day).padStart(2, "0")}/rollout-${number}.jsonl`, day, ...codex(number === 0 ? FOLDER : "/other", `Day ${day}`));
  }
  const titles = await found();
  assert.equal(titles[0], "Codex: Day 28");
  assert.equal(titles.length, 20);
});

test("a message cannot pretend to be of this workspace", () => {
  const lines = claude("/elsewhere", `{"cwd":"${FOLDER}"}`).map((record) => JSON.stringify(record));
  assert.equal(headIn(lines.join("\n"))?.cwd, "/elsewhere");
  const [snapshot, user] = claude("/elsewhere", "text");
  assert.equal(headIn(`${JSON.stringify(snapshot)}\n${JSON.stringify(user).slice(0, -9)}`)?.cwd, "/elsewhere");
});
