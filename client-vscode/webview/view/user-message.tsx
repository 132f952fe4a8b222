import type { JSX } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Markdown } from "../markdown/markdown";
import { post, requestFocus } from "../page";
import type { Item } from "../state/items";
import { Code } from "./code";
import { ChatContext } from "./context";
import { Fold } from "./fold";
import { Icon, IconButton } from "./icon";
import { Images } from "./images";
import { MoreButton } from "./menu";

type UserItem = Extract<Item, { kind: "user" }>;

/** A message of the user's. It is edited in place; sending it again begins a branch. */
export function UserMessage({ item }: { item: UserItem }): JSX.Element {
  const { busy } = useContext(ChatContext);
  const [editing, setEditing] = useState(false);
  if (editing) return <Editor item={item} onClose={() => { setEditing(false); requestFocus(); }} />;
  return (
    <article class="message user" data-testid="user" aria-label="You">
      <Markdown text={item.text} />
      <Images images={item.images} />
      {item.attachments?.map(({ title, text }, at) => (
        <div key={at} class="attached-block"><Fold head={<><Icon name="file" label="Attached:" /><span>{title}</span></>}>{() => <Code text={text} label={title} />}</Fold></div>
      ))}
      <div class="user-actions">
      <IconButton name="history" label="Restore Files to This Point" disabled={busy} onClick={() => { post({ type: "restoreFiles", entryId: item.id }); }} />
      <IconButton name="edit" label="Edit and Resend" disabled={busy} onClick={() => { setEditing(true); }} />
      <MoreButton item={item} />
      </div>
    </article>
  );
}

function Editor({ item, onClose }: { item: UserItem; onClose: () => void }): JSX.Element {
  const { busy, enterSends } = useContext(ChatContext);
  const [text, setText] = useState(item.text);
  const input = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.form?.scrollIntoView({ block: "nearest" });
  }, []);
  const ready = !busy && text.trim() !== "";
  const send = (): void => {
    if (!ready) return;
    post({ type: "resend", entryId: item.id, text });
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const sends = event.key === "Enter" && !event.shiftKey && (enterSends || event.ctrlKey || event.metaKey);
    if (!sends && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (sends) send();
    else onClose();
  };
  return (
    <form class="message user editing" data-testid="user-editor" aria-label="Edit your message" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <textarea ref={input} value={text} aria-label="Edited message" onInput={(event) => { setText(event.currentTarget.value); }} onKeyDown={onKeyDown} />
      <Images images={item.images} />
      <p class="hint">Sending starts a new branch here. The messages that follow stay on the old one.</p>
      <p class="buttons">
        <button type="submit" class="button" disabled={!ready}>Send</button>
        <button type="button" class="button secondary" onClick={onClose}>Cancel</button>
      </p>
    </form>
  );
}
