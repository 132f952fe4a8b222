import type { JSX } from "preact";
import { useContext } from "preact/hooks";

import { cost } from "../../src/chat/prices";
import { shortFigures, spokenFigures, type TurnFigures } from "../state/turn-figures";
import { ChatContext } from "./context";

/** The tokens and the time of a turn, at its last reply. */
export function Figures({ of }: { of: TurnFigures | undefined }): JSX.Element | null {
  const { pricing } = useContext(ChatContext);
  const text = of === undefined ? "" : shortFigures(of);
  if (of === undefined || text === "") return null;
  const price = pricing !== undefined && of.sent + of.received > 0 ? cost(pricing, of.spendings) : undefined;
  return <span class="turn-figures" data-testid="turn-figures" title={spokenFigures(of)}>{text}{price !== undefined && ` · ${price}`}</span>;
}
