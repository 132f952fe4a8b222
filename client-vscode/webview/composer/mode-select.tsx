import type { JSX } from "preact";

import { type Mode, MODES } from "../../src/modes/mode";
import { post } from "../page";

/** How far the model may go in this conversation. */
export function ModeSelect({ mode }: { mode: Mode }): JSX.Element {
  return (
    <select
      class={`mode mode-${mode}`}
      value={mode}
      aria-label="Mode"
      title={MODES[mode].about}
      data-testid="mode"
      onChange={(event) => { post({ type: "setMode", mode: event.currentTarget.value as Mode }); }}
    >
      {Object.entries(MODES).map(([each, { label, about }]) => <option key={each} value={each} title={about}>{label}</option>)}
    </select>
  );
}
