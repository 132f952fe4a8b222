import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { post } from "../page";
import type { PanelState, Shown } from "../state/state";
import { Composer, type Filling } from "./composer";
import { Log, Welcome } from "./log";
import { Meter, UsageDetails } from "./meter";
import { Notices, ServerNotice, WorkBar } from "./notices";
import { Picker } from "./picker";

interface PanelProps {
  state: PanelState;
  filling: Filling;
  onDismiss: (id: number) => void;
}

export function Panel({ state, filling, onDismiss }: PanelProps): JSX.Element {
  const { shown, server } = state;
  const id = shown?.conversation?.id ?? "";
  return (
    <div class="panel">
      <Picker shown={shown?.conversation ?? null} conversations={state.conversations} />
      <main class="body">
        {shown && !isEmpty(shown) ? <Log key={id} shown={shown} reports={state.reports} /> : <Empty state={state} />}
      </main>
      <footer class="footer">
        <Notices notices={state.notices} offeredModel={state.offeredModel} onDismiss={onDismiss} />
        {shown && <ServerNotice server={server} />}
        {shown?.work && <WorkBar work={shown.work} />}
        <Foot key={id} state={state} id={id} filling={filling} />
      </footer>
      <div role="status" class="hidden">{announcement(shown)}</div>
    </div>
  );
}

function Foot({ state, id, filling }: { state: PanelState; id: string; filling: Filling }): JSX.Element {
  const { shown, server, enterSends } = state;
  const [details, setDetails] = useState(false);
  const usage = shown?.usage;
  const busy = shown !== undefined && (shown.running || shown.work !== undefined);
  const isStale = details && usage?.breakdown === undefined;
  useEffect(() => {
    if (isStale) post({ type: "showUsage" });
  }, [isStale, usage]);
  return (
    <>
      {details && usage && <UsageDetails usage={usage} busy={busy} />}
      <Composer conversationId={id} filling={filling} enterSends={enterSends} running={busy} disabled={!shown || server.state !== "running"}>
        {usage ? <Meter usage={usage} open={details} onToggle={() => { setDetails(!details); }} /> : <span />}
      </Composer>
    </>
  );
}

function Empty({ state: { shown, server } }: { state: PanelState }): JSX.Element | null {
  if (shown) return <Welcome />;
  return server.state === "running" ? null : <ServerNotice server={server} />;
}

function isEmpty({ items, draft, running }: Shown): boolean {
  return items.length === 0 && draft.length === 0 && !running;
}

/** What a screen reader is told of work that is only seen otherwise. */
function announcement(shown: Shown | undefined): string {
  if (shown?.work) return `${shown.work.title}…`;
  return shown?.running ? "Working…" : "";
}
