/** What a person made of the edits of a model, by the id of the tool call. */
export type Verdict = "kept" | "undone";
export type Verdicts = Readonly<Record<string, Verdict>>;

/** How many verdicts are remembered. A guess: more than a workspace's conversations show. */
const MOST = 2000;

export function withVerdict(verdicts: Verdicts, toolCallId: string, verdict: Verdict | undefined): Verdicts {
  const others = Object.entries(verdicts).filter(([id]) => id !== toolCallId);
  return Object.fromEntries(verdict === undefined ? others : [...others, [toolCallId, verdict] as const].slice(-MOST));
}
