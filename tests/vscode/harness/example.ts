// A conversation about a small shop: what its person asks, and what the provider answers.
import type { Answer } from "./provider.ts";

const PRICES = `from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    name: str
    price: float
    quantity: int


def total(items: list[Item]) -> float:
    return sum(item.price * item.quantity for item in items)
`;

const CENTS = PRICES.replace("price: float", "price_cents: int")
  .replace("-> float", "-> int")
  .replace("item.price ", "item.price_cents ");

export const FILES = {
  "README.md": "# Shop\n\nA small shop, for examples.\n",
  "src/prices.py": PRICES,
  "src/api.py": 'def as_json(item):\n    return {"name": item.name, "price": item.price}\n',
};

export interface Turn {
  asks: string;
  answers: Answer[];
}

export const CENTS_TURN: Turn = {
  asks: "Totals are off by a cent now and then. Please move prices to integer cents; the JSON of the public API must not change.",
  answers: [
    {
      thinking: "Floats are summed somewhere. The type of a price decides; the API turns it into JSON.",
      text: "I'll look at how prices are kept, and at what the API makes of them.",
      calls: [
        ["call-1", "read_file", { path: "src/prices.py" }],
        ["call-2", "read_file", { path: "src/api.py" }],
      ],
    },
    {
      text: "`total` adds binary fractions. I'll keep cents instead.",
      calls: [["call-3", "write_file", { path: "src/prices.py", content: CENTS }]],
    },
    {
      text: `Prices are **integer cents** now, and sums are exact:

\`\`\`python
def total(items: list[Item]) -> int:
    return sum(item.price_cents * item.quantity for item in items)
\`\`\`

- \`src/prices.py\` keeps \`price_cents\`.
- \`src/api.py\` still has to divide by 100, so that the JSON stays as it is.

Shall I change the API next?`,
    },
  ],
};

export const API_TURN: Turn = {
  asks: "Yes. Round half to even, and keep two decimals.",
  answers: [
    {
      text: "The one place is `as_json`.",
      calls: [
        [
          "call-4",
          "write_file",
          {
            path: "src/api.py",
            content: 'def as_json(item):\n    return {"name": item.name, "price": item.price_cents / 100}\n',
          },
        ],
      ],
    },
    { text: "Done: `as_json` divides by 100 at the very end, so the JSON is what it was.\n\n1. Sums stay in cents.\n2. Only the API knows decimals." },
  ],
};

export const DISCOUNT_TURN: Turn = {
  asks: "Try it with Decimal instead, I want to compare.",
  answers: [
    {
      text: "With `Decimal` the model keeps its unit, at some cost:\n\n| | cents | Decimal |\n|---|---|---|\n| exact | yes | yes |\n| speed | 1× | about 30× slower |\n| JSON | divide once | as it is |\n\nFor a shop of this size either is fine.",
    },
  ],
};

export const SUMMARY = `## Goal
Prices in integer cents, without a change to the public API's JSON

## Constraints & Preferences
- The JSON of the public API must not change

## Progress
### Done
- [x] \`src/prices.py\` keeps \`price_cents\`, and \`total\` is exact
### In Progress
- [ ] \`src/api.py\` divides by 100
### Blocked
(none)

## Key Decisions
- **Cents, not Decimal**: sums stay integers

## Next Steps
1. Change \`as_json\`

## Critical Context
- Totals were off by a cent because floats were summed`;
