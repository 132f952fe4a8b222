import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { Icon } from "./icon";

interface FoldProps {
  head: ComponentChildren;
  /** What is inside, made when it is opened. */
  children: () => ComponentChildren;
  /** It is open until somebody closes it. */
  initiallyOpen?: boolean;
}

/** A line that opens. */
export function Fold({ head, children, initiallyOpen = false }: FoldProps): JSX.Element {
  const [open, setOpen] = useState(initiallyOpen);
  const id = useId();
  return (
    <div class="fold">
      <button
        type="button"
        class="fold-head"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => { setOpen(!open); }}
      >
        <Icon name={open ? "chevron-down" : "chevron-right"} />
        {head}
      </button>
      <div id={id} class="fold-body" hidden={!open}>
        {open && children()}
      </div>
    </div>
  );
}
