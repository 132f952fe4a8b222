import type { JSX } from "preact";

import { post } from "../page";
import type { ChosenModel } from "../state/chosen-model";

/** The name of the model that answers, and how much it thinks where that was chosen; opens the choice of another. */
export function ModelButton({ model: { name, thinkingLevel } }: { model: ChosenModel }): JSX.Element {
  const shown = name === undefined || name === "" ? "Choose a Model" : name;
  const level = thinkingLevel === undefined ? "" : ` · ${thinkingLevel}`;
  const spoken = `Model: ${shown}${thinkingLevel === undefined ? "" : `, thinking: ${thinkingLevel}`}`;
  return (
    <button type="button" class="model-button" title={spoken} aria-label={`${spoken}. Choose another`} data-testid="model" onClick={() => { post({ type: "run", command: "coppice.pickModel" }); }}>
      {shown.split("/").at(-1)}{level}
    </button>
  );
}
