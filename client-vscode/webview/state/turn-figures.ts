/** What a turn has taken so far: requests to the model, their tokens, and the time since the user's message. */
import type { Spending } from "../../src/chat/prices";
import { counted, shortTokens } from "../../src/format";
import type { Usage } from "../../src/protocol.gen";

export interface TurnFigures {
  requests: number;
  /** Tokens of all requests, those from the provider's cache included. */
  sent: number;
  cached: number;
  written: number;
  received: number;
  /** The same by model. */
  spendings: readonly Spending[];
  /** When the user's message and the newest reply were stored; milliseconds of the epoch. */
  from: number;
  to: number;
}

/** The beginning of a turn; nothing where its time is not known. */
export function begun(timestamp: string): TurnFigures | undefined {
  const from = Date.parse(timestamp);
  return Number.isNaN(from) ? undefined : { requests: 0, sent: 0, cached: 0, written: 0, received: 0, spendings: [], from, to: from };
}

/** The figures with one more reply. */
export function withReply(before: TurnFigures, timestamp: string, usage: Usage | null | undefined, model?: string): TurnFigures {
  const { input = 0, output = 0, cacheRead, cacheWrite } = usage ?? {};
  const spending = { model, sent: input + (cacheRead ?? 0) + (cacheWrite ?? 0), cached: cacheRead ?? 0, written: cacheWrite ?? 0, received: output };
  const to = Date.parse(timestamp);
  return {
    requests: before.requests + 1,
    ...sum(before, spending),
    spendings: withSpending(before.spendings, spending),
    from: before.from,
    to: Number.isNaN(to) ? before.to : Math.max(before.to, to),
  };
}

function withSpending(before: readonly Spending[], spending: Spending): Spending[] {
  const at = before.findIndex(({ model }) => model === spending.model);
  return at < 0 ? [...before, spending] : before.with(at, { model: spending.model, ...sum(before[at] ?? spending, spending) });
}

function sum(one: Spending, other: Spending): Pick<Spending, "sent" | "cached" | "written" | "received"> {
  return { sent: one.sent + other.sent, cached: one.cached + other.cached, written: one.written + other.written, received: one.received + other.received };
}

/** `12k in (87% cached), 532 out · 8 s` */
export function shortFigures({ sent, cached, received, from, to }: TurnFigures): string {
  const share = cached === 0 ? "" : ` (${percentage(cached, sent)}% cached)`;
  const tokens = sent + received === 0 ? [] : [`${shortTokens(sent)} in${share}, ${shortTokens(received)} out`];
  return [...tokens, ...(to > from ? [duration(to - from)] : [])].join(" · ");
}

/** The same in a sentence. */
export function spokenFigures({ requests, sent, cached, received, from, to }: TurnFigures): string {
  const share = cached === 0 ? "" : `, ${percentage(cached, sent)}% of them from the provider's cache`;
  return `This turn: ${counted(requests, "request")} with ${counted(sent, "token")}${share}; ${counted(received, "token")} received; ${duration(to - from)}.`;
}

function percentage(part: number, whole: number): number {
  return Math.floor((part / whole) * 100);
}

function duration(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
