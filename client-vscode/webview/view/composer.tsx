import type { ComponentChildren, JSX } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";

import { SLASH_COMMANDS, type SlashCommand } from "../../src/context/messages";
import { useAssist } from "../composer/assist";
import { Chips } from "../composer/chips";
import { useHistory } from "../composer/history";
import { attachFrom } from "../composer/pictures";
import type { ComposerState } from "../composer/state";
import { slashCommand } from "../composer/trigger";
import { followFocusRequests, keepDraft, memory, post, takeFocusRequest } from "../page";
import { IconButton } from "./icon";

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

/** Where the user writes, in whichever conversation is shown. What was typed and not sent is remembered for each of them. */
export function Composer(props: ComposerProps): JSX.Element {
  const { conversationId, enterSends, running, disabled, state, sent, children } = props;
  const input = useRef<HTMLTextAreaElement>(null);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const text = memory.drafts[conversationId] ?? "";

  const write = (value: string): void => {
    keepDraft(conversationId, value);
    redraw(undefined);
  };
  useEffect(() => followFocusRequests(() => { redraw(undefined); }), []);
  useEffect(() => {
    if (!disabled && takeFocusRequest()) input.current?.focus();
  });

  const assist = useAssist(input, state.completions, write);
  useEffect(assist.close, [conversationId]);
  const history = useHistory(sent);
  const ready = !disabled && text.trim() !== "";
  const send = (): void => {
    if (!ready) return;
    assist.close();
    const typed = slashCommand(text);
    const command = (Object.keys(SLASH_COMMANDS) as SlashCommand[]).find((name) => name === typed?.command);
    // The host puts the text back where sending fails, so it has to be gone before.
    write("");
    if (command === undefined) post({ type: "send", text });
    else post({ type: "slash", command, argument: typed?.argument ?? "" });
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
        onBlur={assist.close}
        onKeyDown={onKeyDown}
        onPaste={(event) => { if (attachFrom(event.clipboardData)) event.preventDefault(); }}
        onDragOver={(event) => { event.preventDefault(); }}
        onDrop={(event) => { if (attachFrom(event.dataTransfer)) event.preventDefault(); }}
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
