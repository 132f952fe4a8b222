/** What requests cost, where the user has set prices. */
import * as v from "valibot";

const price = v.pipe(v.number(), v.finite(), v.minValue(0));

/** For a million tokens each. */
export const prices = v.object({
  input: price,
  cachedInput: price,
  output: price,
  currency: v.optional(v.pipe(v.string(), v.maxLength(8)), "$"),
});

export type Prices = v.InferOutput<typeof prices>;

/** `sent` includes what was `cached`. */
export interface Spending {
  sent: number;
  cached: number;
  received: number;
}

const MILLION = 1_000_000;

/** The prices of a setting, where all of them are set. */
export function pricesOf(setting: unknown): Prices | undefined {
  const parsed = v.safeParse(prices, setting);
  return parsed.success ? parsed.output : undefined;
}

/** `$0.0123`: in hundredths, and below one of them with two digits that count. */
export function cost({ input, cachedInput, output, currency }: Prices, { sent, cached, received }: Spending): string {
  const amount = ((sent - cached) * input + cached * cachedInput + received * output) / MILLION;
  const digits = amount === 0 || amount >= 0.01 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return `${currency}${amount.toFixed(digits)}`;
}
