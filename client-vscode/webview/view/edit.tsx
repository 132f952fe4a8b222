import type { JSX } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { FileChange } from "../../src/agent/file-change";
import type { Verdicts } from "../../src/agent/review";
import { counted } from "../../src/format";
import { post } from "../page";
import { PatchView, patchSize } from "./diff";
import { Fold } from "./fold";
import { Icon } from "./icon";
import { Path } from "./link";

/** What became of the edits, for the cards deep in the conversation. */
export const VerdictContext = createContext<Verdicts>({});

interface EditProps {
  toolCallId: string;
  entryId: string;
  change: FileChange;
}

/** A change that a model made, with the buttons that keep it and take it back. */
export function Edit({ toolCallId, entryId, change }: EditProps): JSX.Element {
  const verdict = useContext(VerdictContext)[toolCallId];
  const review = (action: "keep" | "undo" | "open"): void => { post({ type: "reviewEdit", entryId, toolCallId, action }); };
  const diff = <PatchView path={change.path} patch={change.patch} />;
  return (
    <div class="edit" data-testid="edit">
      <div class="edit-head">
        <Path path={change.path} />{change.before === null && " (new file)"}
        <Size patch={change.patch} />
      </div>
      {verdict === undefined ? diff : <Fold head={<span>Changes</span>}>{() => diff}</Fold>}
      <div class="edit-row">
        {verdict === undefined ? (
          <>
            <button type="button" class="button" onClick={() => { review("keep"); }}>Keep</button>
            <button type="button" class="button secondary" onClick={() => { review("undo"); }}>Undo</button>
          </>
        ) : (
          <span class="hint" role="status">{verdict === "kept" ? <><Icon name="check" />Kept</> : <><Icon name="discard" />Undone</>}</span>
        )}
        <button type="button" class="link" onClick={() => { review("open"); }}>Open Changes</button>
      </div>
    </div>
  );
}

export function Size({ patch }: { patch: string }): JSX.Element {
  const { added, removed } = patchSize(patch);
  return (
    <span class="edit-size">
      <span class="hidden">{`${counted(added, "line")} added, ${removed} removed`}</span>
      <span aria-hidden="true"> <span class="size-added">+{added}</span> <span class="size-removed">−{removed}</span></span>
    </span>
  );
}
