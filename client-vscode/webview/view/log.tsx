import type { JSX } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";

import { post } from "../page";
import type { Item } from "../state/items";
import type { PanelState, Shown } from "../state/state";
import { Icon, IconButton } from "./icon";
import { DraftMessage, Message } from "./message";
import { useScrolling } from "./scrolling";

interface LogProps {
  shown: Shown;
  reports: PanelState["reports"];
}

/** The conversation. It begins with its newest page; earlier ones are put in front on demand. */
export function Log({ shown, reports }: LogProps): JSX.Element {
  const { items, draft, running, work, nextBefore } = shown;
  const { frame, content, atEnd, toEnd, hold } = useScrolling(shown.conversation?.id ?? "", items[0]?.id);
  const showEarlier = (before: string): void => {
    hold();
    post({ type: "showEarlier", before });
  };
  return (
    <div class="log-frame">
      <div ref={frame} class="log-scroll" tabIndex={0} role="region" aria-label="Messages">
        <div ref={content} class="log" role="log" aria-live="polite" aria-busy={draft.length > 0} aria-label="Conversation">
          {nextBefore !== undefined && (
            <div class="item earlier">
              <button type="button" class="button secondary" onClick={() => { showEarlier(nextBefore); }}>Show Earlier</button>
            </div>
          )}
          <Items items={items} running={running} busy={running || work !== undefined} reports={reports} />
          {draft.length > 0 && <div class="item"><DraftMessage blocks={draft} /></div>}
          {running && draft.length === 0 && work === undefined && <p class="item working shimmer">Working…</p>}
        </div>
      </div>
      {!atEnd && (
        <div class="to-end">
          <IconButton name="arrow-down" label="Scroll to the End" onClick={toEnd} />
        </div>
      )}
    </div>
  );
}

interface ItemsProps {
  items: readonly Item[];
  running: boolean;
  busy: boolean;
  reports: PanelState["reports"];
}

/** Items that come into sight and go out of it together: each on its own costs too much with thousands. */
const GROUP = 50;

/** Apart from the draft, so that a growing reply leaves it alone. */
const Items = memo(function Items({ items, running, busy, reports }: ItemsProps): JSX.Element {
  // Groups are counted from the item that was first when the conversation was opened; those in front have negative numbers.
  const origin = useRef(items[0]?.id);
  const newest = items.at(-1)?.id;
  const undoable = busy ? undefined : items.findLast((item) => item.kind === "compaction")?.id;
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
          reports={reports}
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
  reports: PanelState["reports"];
}

const Group = memo(function Group({ items, running, undoable, reports }: GroupProps): JSX.Element {
  return (
    <div class="group">
      {items.map((item) => (
        <div key={item.id} class="item" data-entry={item.id}>
          <Message item={item} running={item.id === running} undoable={item.id === undoable} report={reports[item.id]} />
        </div>
      ))}
    </div>
  );
}, isSameGroup);

function isSameGroup(before: GroupProps, now: GroupProps): boolean {
  const isHere = (id: string | undefined): boolean => id !== undefined && now.items.some((item) => item.id === id);
  const isFlagSame = (flag: "running" | "undoable"): boolean => before[flag] === now[flag] || !(isHere(before[flag]) || isHere(now[flag]));
  return (
    before.items.length === now.items.length &&
    before.items.every((item, at) => item === now.items[at]) &&
    before.reports === now.reports &&
    isFlagSame("running") &&
    isFlagSame("undoable")
  );
}

/** What stands where there is no message yet. */
export function Welcome(): JSX.Element {
  return (
    <div class="welcome" data-testid="welcome">
      <Icon name="comment-discussion" />
      <p>Ask about your code, or plan a change. What you say stays in a tree of conversations that you can go back to.</p>
      <p>
        <button type="button" class="link" onClick={() => { post({ type: "run", command: "coppice.importConversation" }); }}>
          Import a conversation
        </button>
        {" from Pi, Claude Code or Coppice."}
      </p>
    </div>
  );
}
