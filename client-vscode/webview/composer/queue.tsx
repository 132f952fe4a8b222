import type { JSX } from "preact";

import type { QueuedMessage } from "../../src/context/messages";
import { counted, oneLine } from "../../src/format";
import { post } from "../page";
import { IconButton } from "../view/icon";

/** Messages that wait for the end of the turn. */
export function Queue({ messages, running }: { messages: readonly QueuedMessage[]; running: boolean }): JSX.Element | null {
  if (messages.length === 0) return null;
  return (
    <ol class="queue" aria-label="Messages that wait" data-testid="queue">
      {messages.map(({ id, text, attached }) => {
        const act = (action: "edit" | "remove" | "now"): void => { post({ type: "queued", id, action }); };
        return (
          <li key={id} class="queued">
            <span class="queued-text" title={text}>{oneLine(text, 200)}{attached > 0 && ` (${counted(attached, "attachment")})`}</span>
            <IconButton name="send" label={running ? "Stop the Turn and Send Now" : "Send Now"} onClick={() => { act("now"); }} />
            <IconButton name="edit" label="Edit Message That Waits" onClick={() => { act("edit"); }} />
            <IconButton name="trash" label="Remove Message That Waits" onClick={() => { act("remove"); }} />
          </li>
        );
      })}
    </ol>
  );
}
