// Written by `coppice connect opencode`; `coppice connect --remove opencode` takes it out.
// Completes the summary of a compaction with what it lost. Where Coppice does not answer, opencode's own summary
// is used as it is, and a line in LOG says why.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const HOOK: string[] = "@HOOK@" as any;
const LOG: string = "@LOG@" as any;
const COMPLETING_MILLISECONDS = 30_000;
const LATE = 75; // the code with which Coppice gives up

function failed(reason: string): void {
  try {
    appendFileSync(LOG, `${new Date().toISOString()} opencode failure: ${reason.replace(/\s+/g, " ").slice(0, 500)}\n`);
  } catch {
    // The log is for people; nothing depends on it.
  }
}

/** What Coppice adds to a summary of the messages up to `upTo`; undefined for nothing. */
function lost(session: string, seen: string, upTo: string | undefined): Promise<string | undefined> {
  const [program, ...rest] = [...HOOK, "CompactionEnded"];
  return new Promise((resolve) => {
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => end(undefined, "no answer in time"), COMPLETING_MILLISECONDS);
    let ended = false;
    const end = (text: string | undefined, reason?: string) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      child.kill();
      if (reason) failed(reason);
      resolve(text);
    };
    let output = "";
    child.on("error", (error) => end(undefined, error.message));
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (data) => (output += data));
    child.on("close", (code, signal) => {
      if (code === LATE) return end(undefined); // it has logged that itself
      if (code !== 0) return end(undefined, `Coppice ended with ${signal ?? `code ${code}`}`);
      try {
        end(output ? JSON.parse(output).text : undefined);
      } catch (error) {
        end(undefined, String(error));
      }
    });
    child.stdin.end(JSON.stringify({ session_id: session, seen, up_to: upTo }));
  });
}

export const Coppice = async ({ client }: any) => {
  /** Of each session that is being compacted: the last message that is summarized. */
  const compacting = new Map<string, string | undefined>();
  const message = async (session: string, id: string) =>
    (await client.session.message({ path: { id: session, messageID: id } }))?.data;
  return {
    "experimental.session.compacting": async ({ sessionID }: any) => {
      compacting.set(sessionID, undefined);
    },
    "experimental.chat.messages.transform": async (_: any, { messages }: any) => {
      const { id, sessionID } = messages.at(-1)?.info ?? {};
      if (compacting.has(sessionID) && !compacting.get(sessionID)) compacting.set(sessionID, id);
    },
    "experimental.text.complete": async ({ sessionID, messageID }: any, output: any) => {
      if (!compacting.has(sessionID)) return;
      try {
        const summary = await message(sessionID, messageID);
        if (summary?.info?.summary !== true) return;
        const upTo = compacting.get(sessionID);
        compacting.delete(sessionID);
        // After an overflow the messages after it may be dropped, too.
        const request = await message(sessionID, summary.info.parentID);
        const isOverflow = request?.parts?.some((part: any) => part.overflow);
        const text = await lost(sessionID, output.text, isOverflow ? undefined : upTo);
        if (text) output.text += `\n\n${text}`;
      } catch (error) {
        failed(String(error));
      }
    },
  };
};
