import type { JSX } from "preact";

import { cost, type Pricing } from "../../src/chat/prices";
import { shortTokens } from "../../src/format";
import type { SpentState, TokenBreakdown, UsageState } from "../../src/protocol.gen";
import { post } from "../page";

interface MeterProps {
  usage: UsageState;
  open: boolean;
  onToggle: () => void;
}

/** How full the model's window is, with a mark where it is compacted by itself. */
export function Meter({ usage, open, onToggle }: MeterProps): JSX.Element {
  const { tokens, contextWindow, thresholdTokens } = usage;
  const level = usage.shouldCompact ? "full" : tokens > 0.8 * thresholdTokens ? "high" : "low";
  const text = `${whole(tokens)} of ${whole(contextWindow)} tokens used, ${percent(tokens, contextWindow)}. Compacts above ${whole(thresholdTokens)}.`;
  return (
    <div class={`meter meter-${level}`} title={text}>
      <div
        class="meter-track"
        role="meter"
        aria-label="Context"
        aria-valuemin={0}
        aria-valuemax={contextWindow}
        aria-valuenow={Math.min(tokens, contextWindow)}
        aria-valuetext={text}
        data-testid="context-meter"
      >
        <div class="meter-fill" style={{ width: percent(Math.min(tokens, contextWindow), contextWindow) }} />
        <div class="meter-mark" style={{ left: percent(thresholdTokens, contextWindow) }} />
      </div>
      <button type="button" class="meter-text" aria-expanded={open} onClick={onToggle}>
        <span class="hidden">Context: </span>
        <span class="meter-size">{shortTokens(tokens)} / {shortTokens(contextWindow)}<span class="hidden"> tokens</span></span>
        <span class="meter-share">{percent(tokens, contextWindow, 0)}<span class="hidden"> used</span></span>
        <span class="hidden">, details</span>
      </button>
    </div>
  );
}

const KINDS: readonly (readonly [keyof TokenBreakdown, string])[] = [
  ["system", "System prompt"],
  ["tools", "Tools"],
  ["skills", "Skills"],
  ["summary", "Summary"],
  ["user", "You"],
  ["assistant", "Assistant"],
  ["thinking", "Thinking"],
  ["toolCalls", "Tool calls"],
  ["toolResults", "Tool results"],
  ["images", "Images"],
  ["pins", "Pinned"],
];

/** What fills the window, by kind. */
export function UsageDetails({ usage, busy, pricing }: { usage: UsageState; busy: boolean; pricing: Pricing | undefined }): JSX.Element {
  const { breakdown } = usage;
  const rows = KINDS.flatMap(([kind, name]) => {
    const count = breakdown?.[kind] ?? 0;
    return count > 0 ? [{ name, count }] : [];
  });
  const rest = breakdown === undefined ? 0 : usage.tokens - rows.reduce((sum, { count }) => sum + count, 0);
  // The provider counts what frames the messages as well, and may count the rest in its own way.
  if (rest > 0) rows.push({ name: "Other", count: rest });
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <section class="usage" aria-label="Context">
      <table>
        <tbody>
          {rows.map(({ name, count }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="usage-bar">
                <div style={{ width: percent(count, most) }} />
              </td>
              <td class="usage-count">{whole(count)}</td>
            </tr>
          ))}
          {rest < 0 && <tr><th scope="row">Counted less by the provider</th><td class="usage-bar" /><td class="usage-count">−{whole(-rest)}</td></tr>}
          <tr class="usage-total"><th scope="row">Total</th><td class="usage-bar" /><td class="usage-count">{whole(usage.tokens)}</td></tr>
        </tbody>
      </table>
      <p class="hint">Compacts above {whole(usage.thresholdTokens)} tokens; {whole(usage.reserveTokens)} stay free for the reply.</p>
      {pricing && usage.spent && (
        <p class="hint">
          Cost of the last turn {costOf(pricing, usage.spent, "turn")}, of the conversation {costOf(pricing, usage.spent, "conversation")}, of its compactions {costOf(pricing, usage.spent, "compactions")}; with all branches and unused summaries {costOf(pricing, usage.spent, "whole")}.
        </p>
      )}
      <button type="button" class="button secondary" disabled={busy} onClick={() => { post({ type: "compact" }); }}>
        Compact Now
      </button>
    </section>
  );
}

function costOf(pricing: Pricing, { models }: SpentState, of: "turn" | "conversation" | "compactions" | "whole"): string {
  const spendings = models.map(({ model, [of]: { input, cacheRead, cacheWrite, output } }) => ({ model: model ?? undefined, sent: input, cached: cacheRead, written: cacheWrite, received: output }));
  return cost(pricing, spendings) ?? "not known";
}

function whole(tokens: number): string {
  return tokens.toLocaleString("en");
}

function percent(part: number, whole: number, decimals = 1): string {
  return `${Number(((Math.min(part, whole) / Math.max(whole, 1)) * 100).toFixed(decimals))}%`;
}
