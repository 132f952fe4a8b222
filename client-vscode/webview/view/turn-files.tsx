import type { JSX } from "preact";
import { useId } from "preact/hooks";

import type { FromPage, TurnFiles } from "../../src/chat/messages";
import { counted } from "../../src/format";
import { post } from "../page";
import { Path } from "./link";

type Action = Extract<FromPage, { type: "reviewTurn" }>["action"];

/** The files that the last turn has changed, with what can be done about all of them. */
export function TurnFilesCard({ turn: { entryId, files, more } }: { turn: TurnFiles }): JSX.Element {
  const heading = useId();
  const act = (action: Action): void => { post({ type: "reviewTurn", entryId, action }); };
  return (
    <section class="turn-files" role="group" aria-labelledby={heading} data-testid="turn-files">
      <h2 id={heading} class="turn-files-title">{counted(files.length + more, "changed file")}</h2>
      <ul class="turn-files-list" tabIndex={0} aria-label="Changed files">
        {files.map(({ path, added, removed }) => (
          <li key={path}>
            <Path path={path} />{" "}
            {added !== undefined && added > 0 && <span class="size-added">+{added}</span>}{" "}
            {removed !== undefined && removed > 0 && <span class="size-removed">−{removed}</span>}
          </li>
        ))}
        {more > 0 && <li class="hint">and {counted(more, "more file")}</li>}
      </ul>
      <div class="buttons">
        <button type="button" class="button" onClick={() => { act("keep"); }}>Keep All</button>
        <button type="button" class="button secondary" title="Your own later changes stay" onClick={() => { act("undo"); }}>Undo All</button>
        <button type="button" class="button secondary" onClick={() => { act("review"); }}>Review</button>
      </div>
    </section>
  );
}
