import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The entry that a search or a reference led to. Another object each time, so that the same entry is opened again. */
export const RevealContext = createContext<{ readonly entryId: string } | undefined>(undefined);

/** What led to this entry, where something did. */
export function useReveal(entryId: string | undefined): object | undefined {
  const revealed = useContext(RevealContext);
  return revealed !== undefined && revealed.entryId === entryId ? revealed : undefined;
}
