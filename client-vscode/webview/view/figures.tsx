import type { JSX } from "preact";

import { shortFigures, spokenFigures, type TurnFigures } from "../state/turn-figures";

/** The tokens and the time of a turn, at its last reply. */
export function Figures({ of }: { of: TurnFigures | undefined }): JSX.Element | null {
  const text = of === undefined ? "" : shortFigures(of);
  if (of === undefined || text === "") return null;
  return <span class="turn-figures" data-testid="turn-figures" title={spokenFigures(of)}>{text}</span>;
}
