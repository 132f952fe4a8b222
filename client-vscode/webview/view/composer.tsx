import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { memory, post, remember } from "../page";
import { IconButton } from "./icon";

/** Text that something else than the keyboard puts into the input; `count` tells one time from the next. */
export interface Filling {
  count: number;
  text?: string | undefined;
  ifEmpty?: boolean | undefined;
}

interface ComposerProps {
  conversationId: string;
  filling: Filling;
  enterSends: boolean;
  /** Something runs that can be stopped. */
  running: boolean;
  disabled: boolean;
  children: ComponentChildren;
}

/** Where the user writes. What was typed and not sent is remembered for each conversation. */
export function Composer(props: ComposerProps): JSX.Element {
  const { conversationId, filling, enterSends, running, disabled, children } = props;
  const input = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(memory.drafts[conversationId] ?? "");

  const write = (value: string): void => {
    setText(value);
    remember(({ drafts }) => {
      if (value === "") Reflect.deleteProperty(drafts, conversationId);
      else drafts[conversationId] = value;
    });
  };
  useEffect(() => {
    if (filling.count === 0) return;
    if (filling.text !== undefined && !(filling.ifEmpty && text !== "")) write(filling.text);
    input.current?.focus();
  }, [filling.count]);

  const ready = !disabled && !running && text.trim() !== "";
  const send = (): void => {
    if (!ready) return;
    post({ type: "send", text });
    write("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const modified = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !event.shiftKey && (enterSends || modified)) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      post({ type: "stop" });
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={input}
        rows={1}
        value={text}
        placeholder={enterSends ? "Ask or instruct" : "Ask or instruct (Ctrl+Enter sends)"}
        aria-label="Message"
        data-testid="message-input"
        disabled={disabled}
        onInput={(event) => { write(event.currentTarget.value); }}
        onKeyDown={onKeyDown}
      />
      <div class="composer-row">
        {children}
        {running ? (
          <IconButton name="debug-stop" label="Stop" data-testid="stop" onClick={() => { post({ type: "stop" }); }} />
        ) : (
          <IconButton name="send" label="Send" type="submit" data-testid="send" disabled={!ready} />
        )}
      </div>
    </form>
  );
}
