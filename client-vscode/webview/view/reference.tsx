import type { JSX } from "preact";

import { post } from "../page";

/** A reference of a summary to the entry that a statement is based on. */
export function Reference({ id }: { id: string }): JSX.Element {
  return (
    <button type="button" class="link reference" title="Show the Message This Is Based On" onClick={() => { post({ type: "showEntry", entryId: id }); }}>
      {`#${id.slice(0, 8)}`}
    </button>
  );
}
