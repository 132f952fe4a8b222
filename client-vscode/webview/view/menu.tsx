/** The menu of a message. There is one, outside of the conversation: what is out of sight there is not painted. */
import { createContext, type JSX } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";

import type { Annotation } from "../../src/chat/outline";
import { post } from "../page";
import { endOf, type Item, textOf } from "../state/items";
import { Icon, IconButton } from "./icon";

export interface MenuTarget {
  item: Item;
  button: HTMLElement;
}

export const MenuContext = createContext<(target: MenuTarget) => void>(() => undefined);

/** Opens the menu of a message. */
export function MoreButton({ item }: { item: Item }): JSX.Element {
  const open = useContext(MenuContext);
  return <IconButton name="ellipsis" class="icon-button more" label="More Actions" aria-haspopup="menu" onClick={(event) => { open({ item, button: event.currentTarget }); }} />;
}

interface MenuProps extends MenuTarget {
  annotation: Annotation | undefined;
  /** Something runs, so that the conversation cannot go elsewhere. */
  busy: boolean;
  onClose: () => void;
}

interface Choice {
  icon: string;
  label: string;
  disabled?: boolean;
  run: () => void;
}

function choices({ item, annotation, busy }: MenuProps): readonly Choice[] {
  const text = textOf(item);
  const act = (action: "pin" | "unpin" | "label" | "fork" | "goTo", entryId = item.id) => (): void => { post({ type: "onMessage", entryId, action }); };
  const isPinnable = item.kind === "user" || item.kind === "assistant" || item.kind === "custom" || item.kind === "bash";
  return [
    ...(text === "" ? [] : [{ icon: "copy", label: "Copy Message", run: () => { post({ type: "copy", text }); } }]),
    ...(isPinnable ? [annotation?.pinned ? { icon: "pinned", label: "Unpin", run: act("unpin") } : { icon: "pin", label: "Pin", run: act("pin") }] : []),
    { icon: "tag", label: "Label…", run: act("label") },
    { icon: "repo-forked", label: "Fork from Here", run: act("fork", endOf(item)) },
    { icon: "arrow-right", label: "Go Here", disabled: busy, run: act("goTo", endOf(item)) },
  ];
}

export function Menu(props: MenuProps): JSX.Element {
  const { button, onClose } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [menu, anchor] = [list.current, button.getBoundingClientRect()];
    if (menu === null) return;
    menu.style.left = `${Math.max(0, Math.min(anchor.right - menu.offsetWidth, innerWidth - menu.offsetWidth))}px`;
    menu.style.top = `${anchor.bottom + menu.offsetHeight > innerHeight ? Math.max(0, anchor.top - menu.offsetHeight) : anchor.bottom}px`;
    menu.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [button]);
  const close = (): void => {
    onClose();
    button.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined && event.key !== "Escape" && event.key !== "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    if (next === undefined) close();
    else entries.at(next % entries.length)?.focus();
  };
  return (
    <div
      ref={list}
      class="menu"
      role="menu"
      aria-label="Message"
      onKeyDown={onKeyDown}
      onFocusOut={(event) => { if (!(event.relatedTarget instanceof Node) || list.current?.contains(event.relatedTarget) !== true) onClose(); }}
    >
      {choices(props).map(({ icon, label, disabled = false, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          class="menu-item"
          tabIndex={-1}
          aria-disabled={disabled}
          onClick={() => {
            if (disabled) return;
            close();
            run();
          }}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
    </div>
  );
}
