import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { SLASH_COMMANDS, type SlashCommand } from "../../src/context/messages";
import { useAssist } from "../composer/assist";
import { Chips } from "../composer/chips";
import { useHistory } from "../composer/history";
import { attachFrom } from "../composer/pictures";
import type { ComposerState } from "../composer/state";
import { slashCommand } from "../composer/trigger";
import { focusRequests, memory, post, remember } from "../page";
import { IconButton } from "./icon";

/** How many requests for the focus were followed, by whichever composer was shown. */
let followed = 0;
/** The focus is in the composer, and goes over to that of the next conversation. */
let hasFocus = false;

interface ComposerProps {
  conversationId: string;
  enterSends: boolean;
  /** Something runs that can be stopped. */
  running: boolean;
  disabled: boolean;
  state: ComposerState;
  /** What the user sent before, oldest first. */
  sent: readonly string[];
  children: ComponentChildren;
}

/** Where the user writes. What was typed and not sent is remembered for each conversation. */
export function Composer(props: ComposerProps): JSX.Element {
  const { conversationId, enterSends, running, disabled, state, sent, children } = props;
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
    if (hasFocus) input.current?.focus();
  }, []);
  useEffect(() => {
    if (followed === focusRequests) return;
    // The host may have put another text there meanwhile.
    setText(memory.drafts[conversationId] ?? "");
    if (disabled) return;
    followed = focusRequests;
    // The page itself may get the focus later; then no event comes of it.
    hasFocus = true;
    input.current?.focus();
  });

  const assist = useAssist(input, state.completions, write);
  const history = useHistory(sent);
  const ready = !disabled && text.trim() !== "";
  const send = (): void => {
    if (!ready) return;
    assist.close();
    const typed = slashCommand(text);
    const command = (Object.keys(SLASH_COMMANDS) as SlashCommand[]).find((name) => name === typed?.command);
    if (command === undefined) post({ type: "send", text });
    else post({ type: "slash", command, argument: typed?.argument ?? "" });
    write("");
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || assist.onKeyDown(event)) return;
    if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey && !event.altKey) {
      const earlier = history.step(text, event.key === "ArrowUp" ? -1 : 1);
      if (earlier === undefined) return;
      event.preventDefault();
      write(earlier);
      return;
    }
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
      <Chips attachments={state.attachments[conversationId] ?? []} openFile={state.openFile} />
      {assist.list}
      <textarea
        {...assist.aria}
        ref={input}
        rows={1}
        value={text}
        placeholder={enterSends ? "Ask or instruct" : "Ask or instruct (Ctrl+Enter sends)"}
        aria-label="Message"
        data-testid="message-input"
        disabled={disabled}
        onInput={(event) => {
          write(event.currentTarget.value);
          assist.follow();
        }}
        onClick={assist.follow}
        onBlur={() => {
          hasFocus = false;
          assist.close();
        }}
        onKeyDown={onKeyDown}
        onPaste={(event) => { if (attachFrom(event.clipboardData)) event.preventDefault(); }}
        onDragOver={(event) => { event.preventDefault(); }}
        onDrop={(event) => { if (attachFrom(event.dataTransfer)) event.preventDefault(); }}
        onFocus={() => { hasFocus = true; }}
      />
      <div class="composer-row">
        {children}
        <span class="composer-buttons">
          {running && ready && <IconButton name="add" label="Send After This Turn" type="submit" data-testid="send-later" />}
          {running ? (
            <IconButton name="debug-stop" label="Stop" data-testid="stop" onClick={() => { post({ type: "stop" }); }} />
          ) : (
            <IconButton name="send" label="Send" type="submit" data-testid="send" disabled={!ready} />
          )}
        </span>
      </div>
    </form>
  );
}
