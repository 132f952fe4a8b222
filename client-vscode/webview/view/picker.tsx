import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { Conversation } from "../../src/protocol.gen";
import { ago } from "../format";
import { post } from "../page";
import { Icon, IconButton } from "./icon";

const LONGEST_TITLE = 120;

export function titleOf(conversation: Conversation | null): string {
  const title = (conversation?.name ?? conversation?.firstMessage ?? "").trim();
  return title === "" ? "New conversation" : title.slice(0, LONGEST_TITLE);
}

interface PickerProps {
  shown: Conversation | null;
  conversations: readonly Conversation[];
}

/** The shown conversation's title, which opens to all of them, and the button that begins another. */
export function Picker({ shown, conversations }: PickerProps): JSX.Element {
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
      <IconButton name="add" label="New Conversation" onClick={() => { post({ type: "newConversation" }); }} />
      {open && <List id={id} shown={shown} conversations={conversations} onClose={close} />}
    </header>
  );
}

interface ListProps extends PickerProps {
  id: string;
  onClose: () => void;
}

function List({ id, shown, conversations, onClose }: ListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [active, setActive] = useState(() => Math.max(0, conversations.findIndex(({ id }) => id === shown?.id)));
  const optionId = (at: number): string => `${id}-${at}`;

  useEffect(() => { list.current?.focus(); }, []);
  useEffect(() => { document.getElementById(optionId(active))?.scrollIntoView({ block: "nearest" }); }, [active]);

  const choose = (conversation: Conversation | undefined): void => {
    if (conversation && conversation.id !== shown?.id) post({ type: "open", conversationId: conversation.id });
    onClose();
  };
  const last = conversations.length - 1;
  const moves: Record<string, () => void> = {
    ArrowDown: () => { setActive(Math.min(active + 1, last)); },
    ArrowUp: () => { setActive(Math.max(active - 1, 0)); },
    Home: () => { setActive(0); },
    End: () => { setActive(last); },
    Enter: () => { choose(conversations[active]); },
    " ": () => { choose(conversations[active]); },
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
      aria-activedescendant={conversations.length > 0 ? optionId(active) : undefined}
      onKeyDown={(event) => {
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move();
      }}
      onBlur={onClose}
    >
      {conversations.length === 0 && <li class="hint" role="option" aria-selected={false}>No conversations yet</li>}
      {conversations.map((conversation, at) => (
        <li
          key={conversation.id}
          id={optionId(at)}
          role="option"
          class={at === active ? "option active" : "option"}
          aria-selected={conversation.id === shown?.id}
          title={titleOf(conversation)}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(conversation);
          }}
          onMouseMove={() => { setActive(at); }}
        >
          <span class="option-title">{titleOf(conversation)}</span>
          <span class="option-time">{ago(conversation.modifiedAt, Date.now())}</span>
        </li>
      ))}
    </ul>
  );
}
