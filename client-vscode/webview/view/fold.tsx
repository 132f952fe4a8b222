import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useState } from "preact/hooks";

import { Icon } from "./icon";
import { useReveal } from "./reveal";

interface FoldProps {
  head: ComponentChildren;
  /** What is inside, made when it is opened. */
  children: () => ComponentChildren;
  /** It is open until somebody closes it. */
  initiallyOpen?: boolean;
  /** The entry that is inside: the line opens when a search leads to it. */
  entryId?: string | undefined;
}

/** A line that opens. */
export function Fold({ head, children, initiallyOpen = false, entryId }: FoldProps): JSX.Element {
  const [open, setOpen] = useState(initiallyOpen);
  const id = useId();
  const reveal = useReveal(entryId);
  useLayoutEffect(() => { if (reveal !== undefined) setOpen(true); }, [reveal]);
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
