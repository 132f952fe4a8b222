import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Conversation } from "../../src/protocol.gen";
import { ago } from "../format";
import { post } from "../page";
import { Icon } from "./icon";

const LONGEST_TITLE = 120;

export function titleOf(conversation: Conversation | null): string {
  const title = (conversation?.name ?? conversation?.firstMessage ?? "").trim();
  return title === "" ? "New conversation" : title.slice(0, LONGEST_TITLE);
}

interface PickerProps {
  shown: Conversation | null;
  conversations: readonly Conversation[];
  /** The conversations that wait for approval, and those whose turn runs. */
  waiting: ReadonlySet<string>;
  running: ReadonlySet<string>;
}

/** The shown conversation's title, which opens to all of them and to a new one. */
export function Picker({ shown, conversations, waiting, running }: PickerProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <header class="header">
      <h1 class="hidden">Coppice Chat</h1>
      <button
        ref={button}
        type="button"
        class="picker"
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-controls={id}
        aria-label={`Conversation: ${titleOf(shown)}`}
        data-testid="conversation-picker"
        onClick={() => {
          if (!open) post({ type: "listConversations" });
          setOpen(!open);
        }}
      >
        <span class="picker-title">{titleOf(shown)}</span>
        <Icon name="chevron-down" />
      </button>
      {open && <List id={id} shown={shown} conversations={conversations} waiting={waiting} running={running} onClose={close} />}
    </header>
  );
}

interface ListProps extends PickerProps {
  id: string;
  onClose: () => void;
}

function List({ id, shown, conversations, waiting, running, onClose }: ListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  // The first option begins a new conversation.
  const options = [undefined, ...conversations];
  const [active, setActive] = useState(() => Math.max(0, options.findIndex((option) => option?.id === shown?.id)));
  const optionId = (at: number): string => `${id}-${at}`;

  useLayoutEffect(() => { list.current?.focus(); }, []);
  useLayoutEffect(() => { document.getElementById(optionId(active))?.scrollIntoView({ block: "nearest" }); }, [active]);

  const choose = (conversation: Conversation | undefined): void => {
    onClose();
    if (conversation === undefined) post({ type: "newConversation" });
    else if (conversation.id !== shown?.id) post({ type: "open", conversationId: conversation.id });
  };
  const last = options.length - 1;
  const moves: Record<string, () => void> = {
    ArrowDown: () => { setActive(Math.min(active + 1, last)); },
    ArrowUp: () => { setActive(Math.max(active - 1, 0)); },
    Home: () => { setActive(0); },
    End: () => { setActive(last); },
    Enter: () => { choose(options[active]); },
    " ": () => { choose(options[active]); },
    Escape: onClose,
  };
  return (
    <ul
      ref={list}
      id={id}
      class="picker-list"
      role="listbox"
      aria-label="Conversations"
      tabIndex={0}
      aria-activedescendant={optionId(active)}
      onKeyDown={(event) => {
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move();
      }}
      onBlur={onClose}
    >
      {options.map((option, at) => (
        <li
          key={option?.id ?? ""}
          id={optionId(at)}
          role="option"
          class={at === active ? "option active" : "option"}
          aria-selected={option !== undefined && option.id === shown?.id}
          title={option && titleOf(option)}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(option);
          }}
          onMouseMove={() => { setActive(at); }}
        >
          {option ? (
            <>
              {waiting.has(option.id) ? <Icon name="bell-dot" label="Waits for approval:" /> : running.has(option.id) && <Icon name="loading" label="Running:" spin />}
              <span class="option-title">{titleOf(option)}</span>{" "}
              <span class="option-time">{ago(option.modifiedAt, Date.now())}</span>
            </>
          ) : (
            <span class="option-title"><Icon name="add" />New Conversation</span>
          )}
        </li>
      ))}
    </ul>
  );
}
