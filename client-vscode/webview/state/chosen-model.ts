/** Which model answers in the shown conversation, or in the one that the first message makes. */
import type { Pricing } from "../../src/chat/prices";
import type { PanelState } from "./state";

export interface ChosenModel {
  /** Undefined where none is set. */
  name: string | undefined;
  thinkingLevel: string | undefined;
}

export function chosenModel({ shown, model, nextModel }: PanelState): ChosenModel {
  const choice = shown?.conversation ?? nextModel;
  const configured = model?.models?.find(({ id }) => id === choice.model);
  return { name: configured?.id ?? model?.name, thinkingLevel: choice.thinkingLevel ?? undefined };
}

/** The prices that the user has set; undefined where there are none. Of two models with one name the chosen one comes first. */
export function pricingOf({ shown, model, nextModel, prices }: PanelState): Pricing | undefined {
  const chosen = (shown?.conversation ?? nextModel).model;
  const models = (model?.models ?? [])
    .flatMap(({ id, name, prices: own }) => (name === undefined || own === undefined ? [] : [{ id, name, prices: own }]))
    .sort((one, other) => Number(other.id === chosen) - Number(one.id === chosen))
    .map(({ name, prices: own }) => ({ name, prices: own }));
  return models.length === 0 && prices === undefined ? undefined : { models, others: prices };
}
