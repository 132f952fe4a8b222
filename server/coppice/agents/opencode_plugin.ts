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

/** What Coppice adds to a summary; undefined for nothing. */
function lost(session: string, seen: string): Promise<string | undefined> {
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
    child.stdin.end(JSON.stringify({ session_id: session, seen }));
  });
}

export const Coppice = async ({ client }: any) => {
  const compacting = new Set<string>();
  return {
    "experimental.session.compacting": async ({ sessionID }: any) => {
      compacting.add(sessionID);
    },
    "experimental.text.complete": async ({ sessionID, messageID }: any, output: any) => {
      if (!compacting.has(sessionID)) return;
      try {
        const message = await client.session.message({ path: { id: sessionID, messageID } });
        if (message?.data?.info?.summary !== true) return;
        compacting.delete(sessionID);
        const text = await lost(sessionID, output.text);
        if (text) output.text += `\n\n${text}`;
      } catch (error) {
        failed(String(error));
      }
    },
  };
};
