// Written by `coppice connect pi`; `coppice connect --remove pi` takes it out.
// Gives Pi the tools of `coppice mcp`, which is started at their first call and ends with Pi, and lets Coppice write
// the summaries of compactions. Where that fails Pi writes its own, and a line in LOG says why.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const COMMAND: string[] = "@COMMAND@" as any;
const ENVIRONMENT: Record<string, string> = "@ENVIRONMENT@" as any;
const TOOLS: { name: string; description: string; parameters: any }[] = "@TOOLS@" as any;
const LOG: string = "@LOG@" as any;
const MILLISECONDS = 60_000;
const COMPACTION_MILLISECONDS = 90_000;

class Server {
  private waiting = new Map<number, (message: any) => void>();
  private last = 0;
  readonly ended: Promise<string>;

  constructor(private readonly child: ChildProcess) {
    this.ended = new Promise((resolve) => {
      child.on("error", (error) => resolve(error.message));
      child.on("close", (code) => resolve(`it ended with code ${code}`));
    });
    child.stdin?.on("error", () => undefined);
    createInterface({ input: child.stdout! }).on("line", (line) => {
      try {
        const message = JSON.parse(line);
        this.waiting.get(message.id)?.(message);
        this.waiting.delete(message.id);
      } catch {
        // No message: what else stands there is not for us.
      }
    });
  }

  send(method: string, params: any): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  ask(method: string, params: any, signal?: AbortSignal): Promise<any> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      // This timer keeps Pi waiting for the answer, and nothing else does.
      const timer = setTimeout(() => stop(new Error("Coppice did not answer in time")), MILLISECONDS);
      const stop = (error: Error) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        reject(error);
      };
      signal?.addEventListener("abort", () => stop(new Error("stopped")), { once: true });
      this.ended.then((reason) => stop(new Error(`Coppice cannot be asked: ${reason}`)));
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        message.error ? reject(new Error(message.error.message)) : resolve(message.result);
      });
      this.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }
}

let running: Promise<Server> | undefined;

async function started(cwd: string, session: string | undefined): Promise<Server> {
  const known = session === undefined ? {} : { COPPICE_SESSION_ID: session };
  const [program, ...rest] = [...COMMAND, "mcp", "--agent", "pi"];
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...ENVIRONMENT, ...known },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // Pi ends although this still runs, and this ends when Pi's end closes its input.
  for (const handle of [child, child.stdin, child.stdout] as any[]) handle?.unref?.();
  const server = new Server(child);
  server.ended.then(() => (running = undefined));
  const client = { name: "pi", version: "0" };
  await server.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
  server.send("notifications/initialized", {});
  return server;
}

function note(kind: "compaction" | "branch" | "failure", text: string): void {
  try {
    appendFileSync(LOG, `${new Date().toISOString()} pi ${kind}: ${text.replace(/\s+/g, " ").slice(0, 500)}\n`);
  } catch {
    // The log is for people; nothing depends on it.
  }
}

function count(tokens = 0): string {
  return tokens.toLocaleString("en-US");
}

/** What a command of Coppice gives for the entries of a session. */
function asked(cwd: string, words: string[], entries: any[], signal?: AbortSignal): Promise<any> {
  const [program, ...rest] = [...COMMAND, ...words, "--dry-run", "--json"];
  const header = { type: "session", version: 3, id: "pi", timestamp: new Date().toISOString(), cwd };
  const lines = [header, ...entries].map((entry) => JSON.stringify(entry));
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      cwd,
      env: { ...process.env, ...ENVIRONMENT },
      stdio: ["pipe", "pipe", "ignore"],
      signal,
    });
    // Not the `timeout` of spawn: where the program is missing it keeps Pi from ending.
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill();
    }, COMPACTION_MILLISECONDS);
    let output = "";
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (data) => (output += data));
    child.on("close", (code, killedBy) => {
      clearTimeout(timer);
      if (late) return reject(new Error("Coppice did not answer in time"));
      if (killedBy) return reject(new Error(`Coppice was ended by ${killedBy}`));
      try {
        const answer = JSON.parse(output);
        if (answer.error) throw new Error(answer.error.message);
        resolve(answer);
      } catch (error) {
        reject(code === 0 ? error : new Error(`coppice ended with code ${code}: ${error}`));
      }
    });
    child.stdin.end(`${lines.join("\n")}\n`);
  });
}

export default function (pi: any) {
  pi.on("session_before_compact", async (event: any, ctx: any) => {
    const { preparation, branchEntries, customInstructions, signal } = event;
    try {
      const cwd: string = ctx?.cwd ?? process.cwd();
      const window: number | undefined = ctx?.model?.contextWindow;
      const options = [
        ...(window ? ["--window", String(window)] : []),
        ...(customInstructions ? ["--instructions", customInstructions] : []),
      ];
      const answer = await asked(cwd, ["compact", "-", ...options], branchEntries, signal);
      const { summary, firstKeptEntryId, tokensBefore: before, tokensAfter: after } = answer.result.entry;
      const known = branchEntries.some((entry: any) => entry.id === firstKeptEntryId);
      if (!summary || !known) throw new Error("the answer is no summary of this session");
      note("compaction", `summary by Coppice: ${count(before)} tokens before, ${count(after)} after`);
      const { tokensBefore } = preparation;
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { by: "coppice" } } };
    } catch (error) {
      note("failure", String(error));
      return undefined;
    }
  });
  pi.on("session_before_tree", async (event: any, ctx: any) => {
    const { targetId, oldLeafId, userWantsSummary, customInstructions } = event.preparation;
    if (!userWantsSummary) return undefined;
    try {
      const options = customInstructions ? ["--instructions", customInstructions] : [];
      const entries = [...ctx.sessionManager.getEntries()];
      // The last entry is the leaf of a session.
      entries.sort((one: any, other: any) => Number(one.id === oldLeafId) - Number(other.id === oldLeafId));
      const words = ["navigate", "-", targetId, "--summarize", ...options];
      const { summaryEntry } = await asked(ctx?.cwd ?? process.cwd(), words, entries, event.signal);
      if (!summaryEntry?.summary) throw new Error("there is no summary of this branch");
      note("branch", "summary by Coppice");
      return { summary: { summary: summaryEntry.summary, details: { by: "coppice" } } };
    } catch (error) {
      note("failure", String(error));
      return undefined;
    }
  });
  for (const tool of TOOLS) {
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      execute: async (_id: string, params: any, signal: AbortSignal | undefined, _update: any, ctx: any) => {
        const file: string | undefined = ctx?.sessionManager?.getSessionFile?.();
        const session = file?.split(/[\\/]/).pop()?.replace(/\.jsonl$/, "");
        running ??= started(ctx?.cwd ?? process.cwd(), session);
        try {
          const result = await (await running).ask("tools/call", { name: tool.name, arguments: params }, signal);
          if (result.isError) throw new Error(result.content.map((part: any) => part.text).join("\n"));
          return { content: result.content, details: {} };
        } catch (error) {
          running = undefined;
          throw error;
        }
      },
    });
  }
}
