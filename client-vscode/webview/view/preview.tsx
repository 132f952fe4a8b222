import type { JSX } from "preact";

import { post, requestFocus } from "../page";
import { Icon } from "./icon";

/** In place of the composer while a branch is only looked at. */
export function PreviewNotice({ busy }: { busy: boolean }): JSX.Element {
  const end = (action: "goTo" | "close"): void => {
    requestFocus();
    post({ type: "endPreview", action });
  };
  return (
    <section class="preview" aria-label="Another branch" data-testid="preview">
      <p><Icon name="git-branch" /><span role="status">Preview of another branch. The current branch is unchanged.</span></p>
      <p class="buttons">
        <button type="button" class="button" disabled={busy} onClick={() => { end("goTo"); }}>Go Here</button>
        <button type="button" class="button secondary" onClick={() => { end("close"); }}>Back to the Current Branch</button>
      </p>
    </section>
  );
}
