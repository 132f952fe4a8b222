/** What requests cost, where the user has set prices. */
import * as v from "valibot";

const price = v.pipe(v.number(), v.finite(), v.minValue(0));

/** For a million tokens each. */
export const prices = v.object({
  input: price,
  cachedInput: price,
  /** Of what the provider writes to its cache; else it costs what `input` does. */
  cacheWrite: v.optional(price),
  output: price,
  currency: v.optional(v.pipe(v.string(), v.maxLength(8)), "$"),
});

export type Prices = v.InferOutput<typeof prices>;

/** What a model took; `sent` includes what was `cached` and what was `written` to the cache. Without `model`, whose it was is not recorded. */
export interface Spending {
  model?: string | undefined;
  sent: number;
  cached: number;
  written: number;
  received: number;
}

/** What is known of prices: of models by the names that their providers call them, and of every other model. */
export interface Pricing {
  models: readonly { name: string; prices: Prices }[];
  others?: Prices | undefined;
}

const MILLION = 1_000_000;

/** The prices of a setting, where all of them are set. */
export function pricesOf(setting: unknown): Prices | undefined {
  const parsed = v.safeParse(prices, setting);
  return parsed.success ? parsed.output : undefined;
}

/** What providers put behind a model's name for one version of it: a date or a number. */
const VERSION = /^-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4})$/;

function pricesFor(model: string | undefined, { models, others }: Pricing): Prices | undefined {
  const named = model === undefined ? undefined : models.find(({ name }) => name === model) ?? models.find(({ name }) => model.startsWith(name) && VERSION.test(model.slice(name.length)));
  return named?.prices ?? others;
}

/** What was spent, each request at the prices of its own model: `$0.0123`, `at least $1.20 + €0.30` where some have no prices. */
export function cost(pricing: Pricing, spendings: readonly Spending[]): string | undefined {
  const amounts = new Map<string, number>();
  let isPartial = false;
  for (const { model, sent, cached, written, received } of spendings) {
    if (sent + received === 0) continue;
    const prices = pricesFor(model, pricing);
    if (prices === undefined) {
      isPartial = true;
      continue;
    }
    const { input, cachedInput, cacheWrite = input, output, currency } = prices;
    amounts.set(currency, (amounts.get(currency) ?? 0) + ((sent - cached - written) * input + cached * cachedInput + written * cacheWrite + received * output) / MILLION);
  }
  if (amounts.size === 0) return isPartial ? undefined : money(0, (pricing.models[0]?.prices ?? pricing.others)?.currency ?? "");
  return `${isPartial ? "at least " : ""}${[...amounts].map(([currency, amount]) => money(amount, currency)).join(" + ")}`;
}

/** In hundredths, and below one of them with two digits that count. */
function money(amount: number, currency: string): string {
  const digits = amount === 0 || amount >= 0.01 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return `${currency}${amount.toFixed(digits)}`;
}
