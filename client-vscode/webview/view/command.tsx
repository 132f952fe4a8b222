import type { JSX } from "preact";
import { createContext } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";

import type { ListedCommand } from "../../src/agent/listed-command";
import { oneLine, visible } from "../../src/format";
import { post } from "../page";
import { Fold } from "./fold";
import { Icon, IconButton } from "./icon";

/** The commands that run, for the cards deep in the conversation. */
export const CommandContext = createContext<readonly ListedCommand[]>([]);

/** What the command of a call prints while the turn waits for it. */
export function LiveCommand({ toolCallId }: { toolCallId: string }): JSX.Element | null {
  const command = useContext(CommandContext).find((each) => each.toolCallId === toolCallId && !each.isLeft);
  if (command === undefined) return null;
  const act = (action: "leave" | "end"): void => { post({ type: "command", id: command.id, action }); };
  return (
    <div class="command" data-testid="live-command">
      <Output tail={command.tail} />
      <div class="edit-row">
        <button type="button" class="button secondary" title="The turn goes on, and the command runs on" onClick={() => { act("leave"); }}>Leave Running</button>
        <button type="button" class="button secondary" onClick={() => { act("end"); }}>End Command</button>
      </div>
    </div>
  );
}

/** The commands that were left running, of every conversation of the window. */
export function LeftCommands({ commands }: { commands: readonly ListedCommand[] }): JSX.Element | null {
  const left = commands.filter(({ isLeft }) => isLeft);
  if (left.length === 0) return null;
  return (
    <ul class="left-commands" aria-label="Commands that run" data-testid="left-commands">
      {left.map(({ id, command, tail }) => (
        <li key={id}>
          <Fold head={<><Icon name="terminal" /> <code title={visible(command)}>{visible(oneLine(command, 200))}</code></>}>{() => <Output tail={tail} />}</Fold>
          <IconButton name="debug-stop" label="End Command" onClick={() => { post({ type: "command", id, action: "end" }); }} />
        </li>
      ))}
    </ul>
  );
}

/** The end of what a command has printed; it stays in sight as it grows, unless the reader has scrolled up. */
function Output({ tail }: { tail: string }): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [tail]);
  const follow = (element: HTMLElement): void => { isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 4; };
  return (
    <pre ref={box} class="command-output" tabIndex={0} role="region" aria-label="Output" onScroll={(event) => { follow(event.currentTarget); }}>
      {tail === "" ? <span class="hint">No output yet.</span> : visible(tail)}
    </pre>
  );
}
