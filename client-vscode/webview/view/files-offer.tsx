import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import type { FilesOffer } from "../../src/chat/messages";
import { counted, visible } from "../../src/format";
import { post, requestFocus } from "../page";
import { Icon } from "./icon";

const FATES = { written: "", deleted: "is deleted", merged: "with your changes", conflict: "stays: it has changes of yours" } as const;
const CHOICES = [["both", "Conversation and Files"], ["conversation", "Conversation Only"], ["files", "Files Only"]] as const;
const ONCE = "Not from now on: no switch would go to the other branch";

/** Asks whether the files go along to another branch. It never takes the focus. */
export function FilesOfferCard({ offer: { id, kind, files, more } }: { offer: FilesOffer }): JSX.Element {
  const [always, setAlways] = useState(false);
  const heading = useId();
  const answer = (choice: (typeof CHOICES)[number][0] | "cancel"): void => {
    requestFocus();
    post({ type: "answerFiles", id, choice, always: always && choice !== "cancel" });
  };
  const count = counted(files.length + more, "file");
  return (
    <section class="files-offer" role="group" aria-labelledby={heading} data-testid="files-offer">
      <h2 id={heading} class="approval-title"><Icon name="files" />{kind === "branch" ? `${count} differ there. Bring them along?` : `Restore ${count} as at this message?`}</h2>
      <ul class="files-offer-list" tabIndex={0} aria-label="Files">
        {files.map(({ path, fate, added, removed, isControl }) => (
          <li key={path} class={fate}>
            <span>{visible(path)}</span>{" "}
            {fate !== "conflict" && (added ?? 0) > 0 && <span class="size-added">+{added}</span>}{" "}
            {fate !== "conflict" && (removed ?? 0) > 0 && <span class="size-removed">−{removed}</span>}{" "}
            <span class="hint">{FATES[fate]}</span>
            {isControl && fate !== "conflict" && <span class="files-offer-control"><Icon name="warning" label="Note:" /> can make programs run, or instructs agents</span>}
          </li>
        ))}
        {more > 0 && <li class="hint">and {counted(more, "more file")}</li>}
      </ul>
      <div class="buttons">
        {kind === "restore"
          ? <button type="button" class="button" onClick={() => { answer("files"); }}>Restore</button>
          : CHOICES.map(([choice, label], at) => <button key={choice} type="button" class={at === 0 ? "button" : "button secondary"} disabled={always && choice === "files"} title={always && choice === "files" ? ONCE : undefined} onClick={() => { answer(choice); }}>{label}</button>)}
        <button type="button" class="link" onClick={() => { answer("cancel"); }}>Cancel</button>
      </div>
      {kind === "branch" && <label class="hint"><input type="checkbox" checked={always} onChange={(event) => { setAlways(event.currentTarget.checked); }} /> Do this from now on</label>}
    </section>
  );
}
