import type { JSX } from "preact";

import type { Annotation } from "../../src/chat/outline";
import { post } from "../page";
import { Icon, IconButton } from "./icon";

/** Where the part of a conversation begins that the model still sees word for word. */
export function ViewLine(): JSX.Element {
  return (
    <p class="view-line" data-testid="view-line" title="The model is sent what follows word for word, and a summary of what is above">
      <span>The model's view begins here</span>
    </p>
  );
}

/** What is known of a message besides its text: the other ways the conversation went here, its label, its pin. */
export function AnnotationRow({ annotation, busy }: { annotation: Annotation; busy: boolean }): JSX.Element | null {
  const { alternatives, label, pinned } = annotation;
  if (alternatives === undefined && label === undefined && !pinned) return null;
  return (
    <div class="marks">
      {alternatives && <Alternatives {...alternatives} busy={busy} />}
      {pinned && <span class="mark" title="The model always sees this message word for word"><Icon name="pinned" />Pinned</span>}
      {label !== undefined && <span class="mark mark-label"><Icon name="tag" label="Label:" />{label}</span>}
    </div>
  );
}

function Alternatives({ ids, at, busy }: NonNullable<Annotation["alternatives"]> & { busy: boolean }): JSX.Element {
  const go = (to: number): void => {
    const entryId = ids[to];
    if (entryId !== undefined) post({ type: "showAlternative", entryId });
  };
  return (
    <span class="alternatives" role="group" aria-label="Alternatives" data-testid="alternatives">
      <IconButton name="chevron-left" label="Previous Alternative" disabled={busy || at <= 0} onClick={() => { go(at - 1); }} />
      <span><span class="hidden">Alternative </span>{at + 1}/{ids.length}</span>
      <IconButton name="chevron-right" label="Next Alternative" disabled={busy || at >= ids.length - 1} onClick={() => { go(at + 1); }} />
    </span>
  );
}
