import type { ApprovalRequest } from "../approvals/approval";
import { couldBeAbout, describe, type Effect, isAbout, mayHoldAlways, readRules, type Rule } from "./rule";

/** Where a rule holds. */
export type Reach = "conversation" | "workspace" | "always";

/** Where a rule can hold. */
export function reachesOf(rule: Rule): Reach[] {
  return mayHoldAlways(rule) ? ["conversation", "workspace", "always"] : ["conversation", "workspace"];
}

/** Where rules outlive the window: `vscode.Memento` with one key. A checkout cannot write there. */
export interface RuleMemory {
  read(): unknown;
  write(rules: readonly Rule[]): void;
}

export interface PlacedRule {
  rule: Rule;
  reach: Reach;
  /** Of a rule for one conversation. */
  conversationId?: string;
}

/** What the rules say of a request. */
export interface Verdict {
  effect: Effect;
  /** The rule that decides. */
  rule: Rule;
  /** The rule is not about what is asked, which could hide what it refuses or asks about. */
  isHidden: boolean;
}

/** The rules of this window. Those of a conversation are forgotten with the window. */
export class Rules {
  readonly #conversations = new Map<string, readonly Rule[]>();

  constructor(private readonly memories: Readonly<Record<"workspace" | "always", RuleMemory>>) {}

  all(): PlacedRule[] {
    return [
      ...[...this.#conversations].flatMap(([conversationId, rules]) => rules.map((rule): PlacedRule => ({ rule, reach: "conversation", conversationId }))),
      ...this.#stored("workspace").map((rule): PlacedRule => ({ rule, reach: "workspace" })),
      ...this.#stored("always").map((rule): PlacedRule => ({ rule, reach: "always" })),
    ];
  }

  /** Those that hold in a conversation. */
  of(conversationId: string): Rule[] {
    return this.all().filter((placed) => placed.conversationId === undefined || placed.conversationId === conversationId).map(({ rule }) => rule);
  }

  add(placed: PlacedRule): void {
    this.remove(placed);
    this.#put(placed, (rules) => [...rules, placed.rule]);
  }

  remove(placed: PlacedRule): void {
    this.#put(placed, (rules) => rules.filter((rule) => !isSame(rule, placed.rule)));
  }

  /**
   * What the rules say of a request. One that refuses wins over one that asks, and that over one that allows. What one
   * refuses or asks about is asked about, too, where a command could hide it.
   */
  decide(request: ApprovalRequest): Verdict | undefined {
    const rules = this.of(request.conversationId);
    const about = rules.filter((rule) => isAbout(rule, request));
    const first = (effect: Effect): Verdict | undefined => {
      const rule = about.find((each) => each.effect === effect);
      return rule && { effect, rule, isHidden: false };
    };
    const hidden = rules.find((rule) => couldBeAbout(rule, request));
    return first("deny") ?? first("ask") ?? (hidden && { effect: "ask", rule: hidden, isHidden: true }) ?? first("allow");
  }

  #stored(reach: "workspace" | "always"): Rule[] {
    const rules = readRules(this.memories[reach].read());
    return reach === "always" ? rules.filter(mayHoldAlways) : rules;
  }

  #put({ reach, conversationId = "" }: PlacedRule, change: (rules: readonly Rule[]) => readonly Rule[]): void {
    if (reach === "conversation") this.#conversations.set(conversationId, change(this.#conversations.get(conversationId) ?? []));
    else this.memories[reach].write(change(this.#stored(reach)));
  }
}

/** Whether two rules are about the same: the later one takes the place of the earlier. */
function isSame(one: Rule, other: Rule): boolean {
  return describe(one) === describe(other) && one.place?.folder === other.place?.folder && one.place?.path === other.place?.path;
}
