import * as v from "valibot";

/** A configured model, by its name in `coppice.models`, and a thinking level; without one it is what the settings say. */
export interface ModelChoice {
  model?: string | undefined;
  thinkingLevel?: ThinkingLevel | undefined;
}

const thinkingLevel = v.picklist(["off", "low", "medium", "high"]);
export type ThinkingLevel = v.InferOutput<typeof thinkingLevel>;

const KEY = "coppice.modelChoice";
const stored = v.object({ model: v.optional(v.string()), thinkingLevel: v.optional(thinkingLevel) });

/** The choice that a conversation, or something stored, has. */
export function choiceOf(value: unknown): ModelChoice {
  const parsed = v.safeParse(stored, value);
  return parsed.success ? parsed.output : {};
}

/** For the server, which takes what is not given for a choice of none. */
export function wireChoice({ model, thinkingLevel: level }: ModelChoice): { model: string | null; thinkingLevel: ThinkingLevel | null } {
  return { model: model ?? null, thinkingLevel: level ?? null };
}

/** What outlives the window: `vscode.Memento`. */
interface ChoiceMemory {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}

/** What a new conversation of the workspace begins with: what was chosen last. A checkout cannot write there. */
export class NextChoice {
  readonly #memory: ChoiceMemory;
  readonly #listeners = new Set<() => void>();

  constructor(memory: ChoiceMemory) {
    this.#memory = memory;
  }

  get current(): ModelChoice {
    return choiceOf(this.#memory.get(KEY));
  }

  get isEmpty(): boolean {
    const { model, thinkingLevel } = this.current;
    return model === undefined && thinkingLevel === undefined;
  }

  async set(choice: ModelChoice): Promise<void> {
    await this.#memory.update(KEY, choice);
    for (const listener of this.#listeners) listener();
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }
}
