import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import type { FilesOffer, FromPage } from "../../src/chat/messages";
import { counted, visible } from "../../src/format";
import { post, requestFocus } from "../page";
import { Icon } from "./icon";

const FATES = { written: "", deleted: "is deleted", merged: "with your changes", conflict: "stays as you have it" } as const;
const BUTTONS = {
  branch: [["both", "Conversation and Files"], ["conversation", "Conversation Only"], ["files", "Files Only"]],
  restore: [["files", "Restore"]],
  unfinished: [["finish", "Finish"], ["undo", "Undo"], ["leave", "Leave Files"]],
  unanswered: [],
} as const;
const CANCEL = { branch: "Cancel", restore: "Cancel", unfinished: "Later", unanswered: "OK" } as const;
const TITLES = { unfinished: "A change of files was cut off", unanswered: "The window ended before you decided about the files" } as const;
const HINTS = {
  branch: undefined,
  restore: undefined,
  unfinished: "Some of them may not be changed yet. Leave Files leaves them, and the conversation, as they are now.",
  unanswered: "No file was changed, and the conversation stayed where it was.",
} as const;
const ONCE = "Not from now on: no switch would go to the other branch";

/** Asks what becomes of files. It never takes the focus. */
export function FilesOfferCard({ offer: { id, kind, files, more, ends } }: { offer: FilesOffer }): JSX.Element {
  const [folded, setFolded] = useState(false);
  const [always, setAlways] = useState(false);
  const heading = useId();
  const answer = (choice: Extract<FromPage, { type: "answerFiles" }>["choice"]): void => {
    requestFocus();
    post({ type: "answerFiles", id, choice, always: always && choice !== "cancel" });
  };
  const fold = (isFolded: boolean): void => {
    requestFocus();
    setFolded(isFolded);
  };
  const title = titleOf(kind, files.length + more);
  if (folded) return <button type="button" class="link" data-testid="files-offer-folded" onClick={() => { fold(false); }}><Icon name="files" />{title}</button>;
  return (
    <section class="files-offer" role="group" aria-labelledby={heading} data-testid="files-offer">
      <h2 id={heading} class="approval-title"><Icon name="files" />{title}</h2>
      {HINTS[kind] !== undefined && <p class="hint">{HINTS[kind]}</p>}
      {ends && <p class="hint">Finish leads to {named(ends.finish)} with its files, Undo to {named(ends.undo)} with its files.</p>}
      {files.length > 0 && <ul class="files-offer-list" tabIndex={0} aria-label="Files">
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
      </ul>}
      <div class="buttons">
        {BUTTONS[kind].map(([choice, label], at) => <button key={choice} type="button" class={at === 0 ? "button" : "button secondary"} disabled={always && choice === "files"} title={always && choice === "files" ? ONCE : undefined} onClick={() => { answer(choice); }}>{label}</button>)}
        <button type="button" class="link" onClick={() => { if (kind === "unfinished") fold(true); else answer("cancel"); }}>{CANCEL[kind]}</button>
      </div>
      {kind === "branch" && <label class="hint"><input type="checkbox" checked={always} onChange={(event) => { setAlways(event.currentTarget.checked); }} /> Do this from now on</label>}
    </section>
  );
}

function named(asked: string): string {
  return asked === "" ? "before the first message" : `“${visible(asked)}”`;
}

function titleOf(kind: FilesOffer["kind"], count: number): string {
  if (kind === "branch") return count === 1 ? "1 file differs there. Bring it along?" : `${counted(count, "file")} differ there. Bring them along?`;
  return kind === "restore" ? `Restore ${counted(count, "file")} as at this message?` : TITLES[kind];
}
