import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { memory, remember } from "../page";

/** Pixels from the end within which a reader counts as being at the end. */
const NEAR = 32;

interface Scrolling {
  frame: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  atEnd: boolean;
  toEnd: () => void;
  /** Call before more is put in front: what is seen stays where it is. */
  hold: () => void;
}

/**
 * Keeps the end of a conversation in sight while it grows, until the reader scrolls up, and where the reader
 * was when the conversation is shown again. `firstId` is its first item's.
 */
export function useScrolling(conversationId: string, firstId: string | undefined): Scrolling {
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(memory.scrolled[conversationId] === undefined);
  const held = useRef<number | undefined>(undefined);
  const [atEnd, setAtEnd] = useState(sticks.current);

  const toEnd = useCallback(() => {
    sticks.current = true;
    setAtEnd(true);
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, []);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const distance = memory.scrolled[conversationId] ?? 0;
    element.scrollTop = element.scrollHeight - element.clientHeight - distance;
    const onScroll = (): void => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      sticks.current = distance < NEAR;
      setAtEnd(sticks.current);
      remember(({ scrolled }) => {
        if (sticks.current) Reflect.deleteProperty(scrolled, conversationId);
        else scrolled[conversationId] = Math.round(distance);
      });
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => { element.removeEventListener("scroll", onScroll); };
  }, [conversationId]);

  useEffect(() => {
    const [outer, inner] = [frame.current, content.current];
    if (outer === null || inner === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (sticks.current) outer.scrollTop = outer.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => { observer.disconnect(); };
  }, []);

  useLayoutEffect(() => {
    if (held.current === undefined || frame.current === null) return;
    frame.current.scrollTop = frame.current.scrollHeight - held.current;
    held.current = undefined;
  }, [firstId]);

  const hold = useCallback(() => {
    if (frame.current !== null) held.current = frame.current.scrollHeight - frame.current.scrollTop;
  }, []);

  return { frame, content, atEnd, toEnd, hold };
}
