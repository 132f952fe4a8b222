/** Which model answers in the shown conversation, or in the one that the first message makes. */
import type { Prices } from "../../src/chat/prices";
import type { PanelState } from "./state";

export interface ChosenModel {
  /** Undefined where none is set. */
  name: string | undefined;
  thinkingLevel: string | undefined;
  /** Undefined where the user has set none for it. */
  prices: Prices | undefined;
}

export function chosenModel({ shown, model, nextModel, prices }: PanelState): ChosenModel {
  const choice = shown?.conversation ?? nextModel;
  const configured = model?.models?.find(({ id }) => id === choice.model);
  return { name: configured?.id ?? model?.name, thinkingLevel: choice.thinkingLevel ?? undefined, prices: configured?.prices ?? prices };
}
