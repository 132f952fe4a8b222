// Written by `coppice connect opencode`; `coppice connect --remove opencode` takes it out.
// Completes the summary of a compaction with what it lost. Where Coppice does not answer, opencode's own summary
// is used as it is.
import { spawn } from "node:child_process";

const HOOK: string[] = "@HOOK@" as any;
const COMPLETING_MILLISECONDS = 30_000;

/** What Coppice adds to a summary; undefined for nothing. */
function lost(session: string, seen: string): Promise<string | undefined> {
  const [program, ...rest] = [...HOOK, "CompactionEnded"];
  return new Promise((resolve) => {
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => end(undefined), COMPLETING_MILLISECONDS);
    const end = (text: string | undefined) => {
      clearTimeout(timer);
      child.kill();
      resolve(text);
    };
    let output = "";
    child.on("error", () => end(undefined));
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (data) => (output += data));
    child.on("close", () => {
      try {
        end(JSON.parse(output).text);
      } catch {
        end(undefined);
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
      } catch {
        // The summary stays as it is.
      }
    },
  };
};
