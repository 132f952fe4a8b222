import type { JSX } from "preact";

import { post } from "../page";

/** The name of the model that answers; opens the choice of another. */
export function ModelButton({ name }: { name: string | undefined }): JSX.Element {
  const shown = name === undefined || name === "" ? "Choose a Model" : name;
  return (
    <button type="button" class="model-button" title={`Model: ${shown}`} aria-label={`Model: ${shown}. Choose another`} data-testid="model" onClick={() => { post({ type: "run", command: "coppice.pickModel" }); }}>
      {shown.split("/").at(-1)}
    </button>
  );
}
