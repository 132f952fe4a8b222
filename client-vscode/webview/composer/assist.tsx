import type { JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { Attachment } from "../../src/context/attachment";
import { SLASH_COMMANDS } from "../../src/context/messages";
import { post } from "../page";
import { Icon } from "../view/icon";
import type { ComposerState } from "./state";
import { type Trigger, triggerAt } from "./trigger";

interface Choice {
  icon: string;
  label: string;
  detail?: string | undefined;
  /** What takes the place of what was typed. */
  insert: string;
  attachment?: Attachment;
}

export interface Assist {
  list: JSX.Element | null;
  /** For the input, so that a screen reader follows the list. */
  aria: { "aria-autocomplete": "list"; "aria-controls": string | undefined; "aria-activedescendant": string | undefined };
  /** Call when the text or the cursor has changed. */
  follow: () => void;
  close: () => void;
  /** Whether the key was meant for the list. */
  onKeyDown: (event: KeyboardEvent) => boolean;
}

/** Completes `@` and `/` in the message that is written. */
export function useAssist(input: RefObject<HTMLTextAreaElement | null>, completions: ComposerState["completions"], write: (text: string) => void): Assist {
  const [trigger, setTrigger] = useState<Trigger | undefined>(undefined);
  const [active, setActive] = useState(0);
  const request = useRef(0);
  const id = useId();
  const query = trigger?.query;
  const isMention = trigger?.kind === "mention";

  useEffect(() => {
    if (!isMention || query === undefined) return;
    request.current += 1;
    post({ type: "complete", request: request.current, query });
  }, [isMention, query]);
  useEffect(() => { document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" }); }, [active]);

  const follow = (): void => {
    const element = input.current;
    setTrigger(element === null ? undefined : triggerAt(element.value, element.selectionStart));
    setActive(0);
  };
  const close = (): void => { setTrigger(undefined); };

  const choices = trigger === undefined ? [] : trigger.kind === "slash" ? slashChoices(trigger.query) : mentionChoices(completions);
  const choose = (choice: Choice): void => {
    const element = input.current;
    if (element === null || trigger === undefined) return;
    if (choice.attachment !== undefined) post({ type: "attach", attachment: choice.attachment });
    const start = trigger.kind === "mention" ? trigger.start : 0;
    const rest = element.value.slice(element.selectionStart);
    // At once, with the cursor: the next key may come before the next frame.
    element.setRangeText(`${choice.insert} ${rest.trimStart()}`, start, element.value.length);
    const cursor = start + choice.insert.length + 1;
    element.setSelectionRange(cursor, cursor);
    write(element.value);
    close();
  };

  const onKeyDown = (event: KeyboardEvent): boolean => {
    const chosen = choices[active];
    // A command that is typed out is meant as it stands.
    if (event.key === "Enter" && trigger?.kind === "slash" && choices.some(({ label }) => label === `/${trigger.query}`)) return false;
    if (chosen === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
    const moves: Record<string, () => void> = {
      ArrowDown: () => { setActive((active + 1) % choices.length); },
      ArrowUp: () => { setActive((active + choices.length - 1) % choices.length); },
      Enter: () => { choose(chosen); },
      Tab: () => { choose(chosen); },
      Escape: close,
    };
    const move = moves[event.key];
    if (move === undefined || event.shiftKey) return false;
    event.preventDefault();
    move();
    return true;
  };

  const isOpen = choices.length > 0;
  const list = isOpen ? (
    <ul id={id} class="suggestions" role="listbox" aria-label={isMention ? "Attach" : "Commands"} data-testid="suggestions">
      {choices.map((choice, at) => (
        <li
          key={`${choice.label} ${choice.detail ?? ""}`}
          id={`${id}-${at}`}
          role="option"
          class={at === active ? "option active" : "option"}
          aria-selected={at === active}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(choice);
          }}
          onMouseMove={() => { setActive(at); }}
        >
          <Icon name={choice.icon} />
          <span class="suggestion-label">{choice.label}</span>
          {choice.detail !== undefined && <span class="suggestion-detail">{choice.detail}</span>}
        </li>
      ))}
    </ul>
  ) : null;
  const aria = { "aria-autocomplete": "list" as const, "aria-controls": isOpen ? id : undefined, "aria-activedescendant": isOpen ? `${id}-${active}` : undefined };
  return { list, aria, follow, close, onKeyDown };
}

function slashChoices(query: string): Choice[] {
  return Object.entries(SLASH_COMMANDS)
    .filter(([name]) => name.startsWith(query.toLowerCase()))
    .map(([name, detail]) => ({ icon: "terminal", label: `/${name}`, detail, insert: `/${name}` }));
}

function mentionChoices({ items }: ComposerState["completions"]): Choice[] {
  return items.map(({ icon, label, detail, attachment }) => ({ icon, label, detail, attachment, insert: `@${label.replace(/\s+/g, "-")}` }));
}
