import type { JSX } from "preact";

import type { OutlineResult } from "../../src/protocol.gen";
import { counted } from "../../src/format";

/** Pixels that a mark takes: what a finger or a pointer can hit. */
const MARK = 24;

interface RailProps {
  outline: OutlineResult;
  /** Of the rail, in pixels. */
  height: number;
  onGo: (entryId: string) => void;
}

/** Where in the conversation it was compacted. Marks that would lie on one another are one. */
export function Rail({ outline, height, onGo }: RailProps): JSX.Element | null {
  const { compactions, length } = outline;
  const slots = Math.max(1, Math.floor(height / MARK));
  const marks = new Map<number, typeof compactions>();
  for (const each of compactions) {
    const slot = Math.min(slots - 1, Math.floor((each.depth / Math.max(1, length)) * slots));
    marks.set(slot, [...(marks.get(slot) ?? []), each]);
  }
  if (marks.size === 0) return null;
  let before = 0;
  return (
    <nav class="rail" aria-label="Compactions" data-testid="rail">
      {[...marks].map(([slot, here]) => {
        const [first] = here;
        before += here.length;
        const label = here.length === 1 ? `Compaction ${before} of ${compactions.length}` : `${counted(here.length, "compaction")}, up to ${before} of ${compactions.length}`;
        return (
          <button
            key={slot}
            type="button"
            class="rail-mark"
            style={{ top: `${(slot / slots) * 100}%` }}
            title={label}
            aria-label={label}
            onClick={() => { if (first !== undefined) onGo(first.entryId); }}
          />
        );
      })}
    </nav>
  );
}
