import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { keepPlace, memory, type Place } from "../page";

/** Pixels from the end within which a reader counts as being at the end. */
const NEAR = 32;
/** How long an entry that was searched for is highlighted, in milliseconds; a guess. */
const HIGHLIGHT_MS = 3000;

interface Scrolling {
  frame: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** Of the frame, in pixels. */
  height: number;
  atEnd: boolean;
  toEnd: () => void;
  /** Call before more is asked for, to be put in front: what is seen then stays where it is. */
  hold: () => void;
  /** Scrolls to an entry and highlights it; false where it is not among the items. */
  goToEntry: (entryId: string) => boolean;
}

/**
 * Keeps the end of a conversation in sight while it grows, until the reader scrolls up, and where the reader
 * was when the conversation is shown again. `firstId` is its first item's. Places are known by an item and
 * not in pixels from an end: the sizes of what was never in sight are guesses. Where a guess gives way to the size, the
 * browser scrolls as well; only a reader scrolls up in a log that has not become smaller.
 */
export function useScrolling(conversationId: string, firstId: string | undefined): Scrolling {
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const held = useRef<Place | undefined>(undefined);
  const [atEnd, setAtEnd] = useState(true);
  const [height, setHeight] = useState(0);

  const toEnd = useCallback(() => {
    sticks.current = true;
    setAtEnd(true);
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, []);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const place = memory.places[conversationId];
    sticks.current = place === undefined || !goTo(element, place);
    if (sticks.current) element.scrollTop = element.scrollHeight;
    setAtEnd(sticks.current);

    let before = { top: element.scrollTop, size: element.scrollHeight };
    const onScroll = (): void => {
      const now = { top: element.scrollTop, size: element.scrollHeight };
      const isUp = now.top < before.top && now.size >= before.size;
      before = now;
      if (now.size - now.top - element.clientHeight < NEAR) sticks.current = true;
      else if (isUp) sticks.current = false;
      else if (sticks.current) element.scrollTop = now.size;
      setAtEnd(sticks.current);
      if (held.current !== undefined) held.current = placeOf(element);
    };
    const onScrollEnd = (): void => {
      keepPlace(conversationId, sticks.current ? undefined : placeOf(element));
    };
    // While sizes that were guesses become smaller, the scroll event alone does not show that it is the reader who scrolls.
    const onWheel = ({ deltaY }: WheelEvent): void => {
      if (deltaY < 0 && element.scrollTop > 0) sticks.current = false;
    };
    // What is opened keeps its head in sight: the end may go out of it.
    const onClick = (event: Event): void => {
      if (event.target instanceof Element && event.target.closest("[aria-expanded]") !== null) sticks.current = false;
    };
    // So does a message that is edited.
    const onFocusIn = (event: Event): void => {
      if (event.target instanceof HTMLTextAreaElement) sticks.current = false;
    };
    element.addEventListener("wheel", onWheel, { passive: true });
    element.addEventListener("click", onClick, { capture: true });
    element.addEventListener("focusin", onFocusIn);
    element.addEventListener("scroll", onScroll, { passive: true });
    element.addEventListener("scrollend", onScrollEnd, { passive: true });
    return () => {
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("click", onClick, { capture: true });
      element.removeEventListener("focusin", onFocusIn);
      element.removeEventListener("scroll", onScroll);
      element.removeEventListener("scrollend", onScrollEnd);
    };
  }, [conversationId]);

  useEffect(() => {
    const [outer, inner] = [frame.current, content.current];
    if (outer === null || inner === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (sticks.current) outer.scrollTop = outer.scrollHeight;
      setHeight(outer.clientHeight);
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => { observer.disconnect(); };
  }, []);

  const hold = useCallback(() => {
    if (frame.current !== null) held.current = placeOf(frame.current);
  }, []);

  useLayoutEffect(() => {
    if (held.current !== undefined && frame.current !== null) goTo(frame.current, held.current);
    held.current = undefined;
  }, [firstId]);

  const goToEntry = useCallback((entryId: string): boolean => {
    const id = CSS.escape(entryId);
    const item = frame.current?.querySelector<HTMLElement>(`[data-entry="${id}"], [data-result="${id}"]`);
    if (!item) return false;
    sticks.current = false;
    item.scrollIntoView({ block: item.clientHeight > (frame.current?.clientHeight ?? 0) ? "start" : "center" });
    item.classList.add("found");
    setTimeout(() => { item.classList.remove("found"); }, HIGHLIGHT_MS);
    return true;
  }, []);

  return { frame, content, height, atEnd, toEnd, hold, goToEntry };
}

/** The first item in sight, and how far it is above the upper edge. */
function placeOf(frame: HTMLElement): Place | undefined {
  const edge = frame.getBoundingClientRect().top;
  const items = [...frame.querySelectorAll<HTMLElement>("[data-entry]")];
  const seen = items.find((item) => item.getBoundingClientRect().bottom > edge);
  const entry = seen?.dataset["entry"];
  return seen === undefined || entry === undefined ? undefined : { entry, above: Math.round(edge - seen.getBoundingClientRect().top) };
}

function goTo(frame: HTMLElement, { entry, above }: Place): boolean {
  const item = frame.querySelector(`[data-entry="${CSS.escape(entry)}"]`);
  item?.scrollIntoView({ block: "start" });
  frame.scrollTop += item === null ? 0 : above;
  return item !== null;
}
