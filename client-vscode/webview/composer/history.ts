import { useRef } from "preact/hooks";

/** The user's earlier messages, by the arrow keys. */
export interface SentHistory {
  /** The text one message further back (-1) or forward (1); undefined where the key is not meant for it. */
  step: (text: string, direction: -1 | 1) => string | undefined;
}

/** `sent` is oldest first. */
export function useHistory(sent: readonly string[]): SentHistory {
  /** How many messages back from the end; 0 is the text that is being written. */
  const back = useRef(0);
  const step = (text: string, direction: -1 | 1): string | undefined => {
    if (text === "") back.current = 0;
    else if (back.current === 0 || text !== sent.at(-back.current)) return undefined;
    const next = back.current - direction;
    if (next < 0 || next > sent.length) return undefined;
    back.current = next;
    return next === 0 ? "" : sent.at(-next);
  };
  return { step };
}
