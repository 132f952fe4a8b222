// Written by `coppice connect claude-code`; `coppice connect --remove claude-code` takes it out.
// Completes the summary of a compaction with what it lost, or replaces it where the user's settings say so.
// Where Coppice does not answer, Claude Code's own summary is used as it is.
const HOOK: string[] = "@HOOK@" as any;
const COMPLETING_MILLISECONDS = 30_000;
const REPLACING_MILLISECONDS = 95_000;

// A result with its handle keeps its parent: the call before the boundary, along which a session that is resumed
// would go past the boundary. What has no text, such as an image, is only in its handle.
const afterBoundary = (message: any): any => {
  const { role, text, toolUses, toolResults } = message;
  const isText = toolResults?.length && toolResults.every((result: any) => result.text);
  return isText ? { role, text, toolUses, toolResults } : message;
};

export const register = (on: any) => {
  on("session.compact", async ($: any, event: any, next: any) => {
    // A sub-agent has a transcript of its own.
    if (event.agentId !== undefined) return next(event);
    const ask = async (name: string, more: any, timeoutMs: number): Promise<any> => {
      try {
        const stdin = JSON.stringify({ session_id: await $.session.id(), ...more });
        const ran = await $.process.run([...HOOK, name], { stdin, timeoutMs });
        return ran.stdout ? JSON.parse(ran.stdout) : {};
      } catch (error) {
        $.ui.log(`Coppice did not answer: ${error}`);
        return {};
      }
    };
    const { instructions, messages } = event;
    const begun = await ask("CompactionBegun", { instructions }, REPLACING_MILLISECONDS);
    if (begun.text) {
      const { firstKept } = begun;
      const kept = firstKept ? messages.findIndex((message: any) => message.handle === firstKept) : messages.length;
      const replacing = { role: "user", text: begun.text, toolUses: [] };
      if (kept >= 0) return { messages: [replacing, ...messages.slice(kept).map(afterBoundary)] };
    }
    const answer = await next(event);
    const [summary, ...rest] = answer?.messages ?? [];
    const texts = (message: any) => [message.text, ...(message.toolResults ?? []).map((result: any) => result.text)];
    const seen = [summary, ...rest].filter(Boolean).flatMap(texts).join("\n");
    const ended = await ask("CompactionEnded", { seen }, COMPLETING_MILLISECONDS);
    if (!ended.text || summary === undefined) return answer;
    const completed = { role: "user", text: `${summary.text}\n\n${ended.text}`, toolUses: [] };
    return { ...answer, messages: [completed, ...rest.map(afterBoundary)] };
  });
};
