import type { JSX, RefObject } from "preact";
import { memo } from "preact/compat";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Annotations, viewStart } from "../../src/chat/outline";
import { post } from "../page";
import type { Item } from "../state/items";
import type { PanelState, Shown } from "../state/state";
import { firstItemFrom } from "../state/successors";
import type { PendingApproval } from "../../src/approvals/approval";
import { Approvals } from "./approval";
import { ChatContext } from "./context";
import { Icon, IconButton } from "./icon";
import { AnnotationRow, ViewLine } from "./annotations";
import { Menu, MenuContext, type MenuTarget } from "./menu";
import { Rail } from "./rail";
import { DraftMessage, Message, Resume } from "./message";
import { RevealContext } from "./reveal";
import { useScrolling } from "./scrolling";
import { TurnFilesCard } from "./turn-files";

/** How far above what is in sight earlier messages are read: the height of the log. */
const AHEAD = "100% 0px 0px 0px";

interface LogProps {
  shown: Shown;
  reports: PanelState["reports"];
  approvals: readonly PendingApproval[];
  turnFiles: PanelState["turnFiles"][string];
  revealed: PanelState["revealed"];
}

/** The conversation. It begins with its newest page; earlier ones are put in front when its start is scrolled to. */
export function Log({ shown, reports, approvals, turnFiles, revealed }: LogProps): JSX.Element {
  const { items, successors, draft, running, elsewhere, work, nextBefore, annotations, outline, preview } = shown;
  const place = `${shown.conversation?.id ?? ""}${preview === undefined ? "" : `/${preview.leafId}`}`;
  const { frame, content, height, atEnd, toEnd, hold, goToEntry } = useScrolling(place, items[0]?.id);
  const { busy } = useContext(ChatContext);
  const locked = running || work !== undefined;
  const viewFrom = useMemo(() => firstItemFrom(viewStart(outline), items, successors), [outline, items, successors]);
  const [menu, setMenu] = useState<MenuTarget>();
  const showEarlier = (before: string): void => {
    hold();
    post({ type: "showEarlier", before });
  };
  // A message that was sent is shown, wherever the reader was.
  const wasRunning = useRef(running);
  useEffect(() => {
    if (running && !wasRunning.current) toEnd();
    wasRunning.current = running;
  }, [running]);
  const reached = useRef<typeof revealed>(undefined);
  useEffect(() => {
    if (revealed === undefined || reached.current === revealed) return;
    if (goToEntry(revealed.entryId) || nextBefore === undefined) reached.current = revealed;
    else showEarlier(nextBefore);
  }, [revealed, items[0]?.id]);
  return (
    <MenuContext.Provider value={setMenu}>
    <RevealContext.Provider value={revealed}>
    <div class="log-frame">
      <div ref={frame} class="log-scroll" tabIndex={0} role="region" aria-label="Messages">
        <div ref={content}>
        <div class="log" role="log" aria-live="polite" aria-busy={draft.length > 0} aria-label="Conversation">
          {nextBefore !== undefined && <Earlier frame={frame} before={nextBefore} onShow={showEarlier} />}
          <Items items={items} running={running} busy={busy} locked={locked} reports={reports} annotations={annotations} viewFrom={viewFrom} />
          {!busy && approvals.length === 0 && isBrokenOff(items) && (
            <div class="item ending" data-testid="broken-off"><Icon name="debug-disconnect" /><div>The model has not answered. <Resume /></div></div>
          )}
          {!busy && turnFiles !== undefined && turnFiles.entryId === items.findLast(({ kind }) => kind === "user")?.id && <div class="item"><TurnFilesCard turn={turnFiles} /></div>}
          {draft.length > 0 && <div class="item"><DraftMessage blocks={draft} /></div>}
          {running && shown.wait === undefined && draft.length === 0 && work === undefined && approvals.length === 0 && <p class="item working shimmer">{elsewhere ? "Working in another window…" : "Working…"}</p>}
        </div>
        <Approvals approvals={approvals} />
        </div>
      </div>
      {outline && <Rail outline={outline} height={height} onGo={(entryId) => { if (!goToEntry(entryId)) post({ type: "showEntry", entryId }); }} />}
      {menu && <Menu {...menu} annotation={annotations.get(menu.item.id)} busy={locked} onClose={() => { setMenu(undefined); }} />}
      {!atEnd && (
        <div class="to-end">
          {approvals.length > 0 ? (
            <button type="button" class="button" onClick={toEnd}>Waiting for Approval</button>
          ) : (
            <IconButton name="arrow-down" label="Scroll to the End" onClick={toEnd} />
          )}
        </div>
      )}
    </div>
    </RevealContext.Provider>
    </MenuContext.Provider>
  );
}

interface EarlierProps {
  frame: RefObject<HTMLDivElement | null>;
  before: string;
  onShow: (before: string) => void;
}

/** Asks once for what comes before when the start is nearly in sight. The button is for a reading that failed. */
function Earlier({ frame, before, onShow }: EarlierProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      onShow(before);
    }, { root: frame.current, rootMargin: AHEAD });
    observer.observe(element.current);
    return () => { observer.disconnect(); };
  }, [before]);
  return (
    <div ref={element} class="item earlier">
      <button type="button" class="button secondary" onClick={() => { onShow(before); }}>Show Earlier</button>
    </div>
  );
}

/** The turn at the end was killed: nobody could say so in a reply. */
function isBrokenOff(items: readonly Item[]): boolean {
  const last = items.at(-1);
  if (last?.kind !== "assistant") return last?.kind === "user";
  return last.stopReason === "toolUse" && last.blocks.some(({ kind }) => kind === "tool");
}

interface ItemsProps {
  items: readonly Item[];
  running: boolean;
  busy: boolean;
  /** Something runs, so that the conversation cannot go elsewhere. */
  locked: boolean;
  reports: PanelState["reports"];
  annotations: Annotations;
  /** The item at which the model's view begins. */
  viewFrom: string | undefined;
}

/** Items that come into sight and go out of it together: each on its own costs too much with thousands. */
const GROUP = 50;

/** Apart from the draft, so that a growing reply leaves it alone. */
const Items = memo(function Items({ items, running, busy, locked, reports, annotations, viewFrom }: ItemsProps): JSX.Element {
  // Groups are counted from the item that was first when the conversation was opened; those in front have negative numbers.
  const origin = useRef(items[0]?.id);
  const newest = items.at(-1)?.id;
  const undoable = busy ? undefined : items.findLast(({ kind }) => kind === "compaction" || kind === "cleared")?.id;
  const first = Math.max(0, items.findIndex(({ id }) => id === origin.current));
  const beginnings = [...items.keys()].filter((at) => at === 0 || (at - first) % GROUP === 0);
  return (
    <>
      {beginnings.map((from, at) => (
        <Group
          key={Math.floor((from - first) / GROUP)}
          items={items.slice(from, beginnings[at + 1])}
          running={running ? newest : undefined}
          undoable={undoable}
          locked={locked}
          reports={reports}
          annotations={annotations}
          viewFrom={viewFrom}
        />
      ))}
    </>
  );
});

interface GroupProps {
  items: readonly Item[];
  /** The item that the running turn is at. */
  running: string | undefined;
  /** The compaction that can be taken back. */
  undoable: string | undefined;
  locked: boolean;
  reports: PanelState["reports"];
  annotations: Annotations;
  viewFrom: string | undefined;
}

const Group = memo(function Group({ items, running, undoable, locked, reports, annotations, viewFrom }: GroupProps): JSX.Element {
  return (
    <div class="group">
      {items.map((item) => {
        const annotation = annotations.get(item.id);
        return (
          <div key={item.id} class="item" data-entry={item.id}>
            {item.id === viewFrom && <ViewLine />}
            <Message item={item} running={item.id === running} undoable={item.id === undoable} report={reports[item.id]} />
            {annotation && <AnnotationRow annotation={annotation} busy={locked} />}
          </div>
        );
      })}
    </div>
  );
}, isSameGroup);

function isSameGroup(before: GroupProps, now: GroupProps): boolean {
  const isHere = (id: string | undefined): boolean => id !== undefined && now.items.some((item) => item.id === id);
  const isFlagSame = (flag: "running" | "undoable" | "viewFrom"): boolean => before[flag] === now[flag] || !(isHere(before[flag]) || isHere(now[flag]));
  return (
    before.items.length === now.items.length &&
    before.items.every((item, at) => item === now.items[at]) &&
    before.reports === now.reports &&
    (before.annotations === now.annotations || now.items.every(({ id }) => before.annotations.get(id) === now.annotations.get(id))) &&
    (before.locked === now.locked || !now.items.some(({ id }) => now.annotations.get(id)?.alternatives)) &&
    isFlagSame("running") &&
    isFlagSame("undoable") &&
    isFlagSame("viewFrom")
  );
}
