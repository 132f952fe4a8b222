import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { Icon } from "./icon";

/** Pixels: less is a fraction that comes from zooming. */
const NEAR = 2;

interface ScrollBoxProps {
  label: string;
  class: string;
  children: ComponentChildren;
}

/** Text of any length in a box that scrolls, with a sign while its end is out of sight. */
export function ScrollBox({ label, class: name, children }: ScrollBoxProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [isEndHidden, setEndHidden] = useState(false);
  const measure = (): void => {
    const element = box.current;
    if (element !== null) setEndHidden(element.scrollHeight - element.scrollTop - element.clientHeight > NEAR);
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => { observer.disconnect(); };
  }, []);
  return (
    <>
      <div ref={box} class={name} tabIndex={0} role="region" aria-label={label} onScroll={measure}>{children}</div>
      {isEndHidden && (
        <button type="button" class="link scroll-more" onClick={() => { box.current?.scrollTo({ top: box.current.scrollHeight }); }}>
          <Icon name="arrow-down" />The end is not in sight. Show it
        </button>
      )}
    </>
  );
}
