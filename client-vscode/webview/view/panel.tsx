import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { ModelButton } from "../composer/model-button";
import { ModeSelect } from "../composer/mode-select";
import { Queue } from "../composer/queue";
import { post } from "../page";
import { chosenModel, pricingOf } from "../state/chosen-model";
import type { PanelState, Shown } from "../state/state";
import { approvalAnnouncement } from "./approval";
import { ChatContext, chatContext } from "./context";
import { LeftCommands } from "./command";
import { Composer } from "./composer";
import { FilesOfferCard } from "./files-offer";
import { Log } from "./log";
import { Meter, UsageDetails } from "./meter";
import { BackgroundLine, Notices, OtherWaits, RestrictedMode, WaitBar, WorkBar } from "./notices";
import { Picker } from "./picker";
import { PreviewNotice } from "./preview";
import { ServerNotice } from "./server";
import { Welcome } from "./welcome";

interface PanelProps {
  state: PanelState;
  onDismiss: (id: number) => void;
}

export function Panel({ state, onDismiss }: PanelProps): JSX.Element {
  const { shown } = state;
  const id = shown?.conversation?.id ?? "";
  const approvals = state.approvals.filter(({ conversationId }) => conversationId === id);
  const waiting = new Set(state.approvals.flatMap(({ interrupted, conversationId }) => (interrupted ? [] : [conversationId])));
  return (
    <div class="panel">
      <Picker shown={shown?.conversation ?? null} conversations={state.conversations} waiting={waiting} running={new Set(state.running)} />
      <main class="body">
        {shown && !isEmpty(shown) ? (
          <ChatContext.Provider value={chatContext(state, shown)}><Log key={`${id}/${shown.preview?.leafId ?? ""}`} shown={shown} reports={state.reports} approvals={approvals} turnFiles={state.turnFiles[id]} revealed={state.revealed?.conversationId === id ? state.revealed : undefined} /></ChatContext.Provider>
        ) : <Empty state={state} />}
      </main>
      <footer class="footer">
        <Foot state={state} id={id} onDismiss={onDismiss} />
      </footer>
      <div role="status" class="hidden">{announcement(shown)}</div>
      <div role="alert" class="hidden">{approvals.filter(({ interrupted }) => !interrupted).map(approvalAnnouncement).join(" ")}</div>
    </div>
  );
}

function Foot({ state, id, onDismiss }: { state: PanelState; id: string; onDismiss: (id: number) => void }): JSX.Element {
  const { shown, server, enterSends } = state;
  const [details, setDetails] = useState(false);
  const usage = shown?.usage;
  const items = shown?.items;
  const sent = useMemo(() => (items ?? []).flatMap((item) => (item.kind === "user" ? [item.text] : [])), [items]);
  const offer = state.filesOffers[id];
  const model = chosenModel(state);
  const busy = shown !== undefined && (shown.running || shown.work !== undefined);
  const isStale = details && usage?.breakdown === undefined;
  useEffect(() => {
    if (isStale) post({ type: "showUsage" });
  }, [isStale, usage]);
  return (
    <>
      <div class="footer-scroll">
        <Notices notices={state.notices} offeredModel={state.offeredModel} onDismiss={onDismiss} />
        {state.approvals.some(({ interrupted, conversationId }) => !interrupted && conversationId !== id) && <OtherWaits />}
        {state.restricted && <RestrictedMode />}
        {shown && <ServerNotice server={server} />}
        {shown?.work && <WorkBar work={shown.work} />}
        {shown?.background && !shown.work && !shown.preview && <BackgroundLine status={shown.background} busy={busy} />}
        {shown?.wait && <WaitBar wait={shown.wait} />}
        {offer && <FilesOfferCard key={offer.id} offer={offer} />}
        {details && usage && <UsageDetails usage={usage} busy={busy} pricing={pricingOf(state)} />}
        <LeftCommands commands={state.commands} />
        <Queue messages={state.composer.queues[id] ?? []} running={busy} />
      </div>
      {shown?.preview && <PreviewNotice busy={shown.running || shown.work !== undefined} />}
      {!shown?.preview && <Composer
        conversationId={id}
        enterSends={enterSends}
        running={busy}
        disabled={!shown || server.state !== "running"}
        state={state.composer}
        sent={sent}
      >
        {server.state === "running" ? <span class="composer-choices"><ModeSelect mode={state.modes[id] ?? "ask"} /><ModelButton model={model} /></span> : <span />}
        {usage ? <Meter usage={usage} open={details} onToggle={() => { setDetails(!details); }} /> : <span />}
      </Composer>}
    </>
  );
}

function Empty({ state: { shown, server, model, notices, offeredModel } }: { state: PanelState }): JSX.Element | null {
  if (server.state !== "running") return shown ? null : <ServerNotice server={server} />;
  // A notice that offers the same is enough.
  const isOffered = notices.some(({ action }) => action?.command === "coppice.setUpModel");
  return shown ? <Welcome needsModel={model?.problem !== undefined && !isOffered} offeredModel={offeredModel} /> : null;
}

function isEmpty({ items, draft, running }: Shown): boolean {
  return items.length === 0 && draft.length === 0 && !running;
}

/** What a screen reader reads of work that is only seen otherwise. */
function announcement(shown: Shown | undefined): string {
  if (shown?.work) return `${shown.work.title}…`;
  if (!shown?.running) return "";
  if (shown.wait) return "Waiting for the provider…";
  return shown.elsewhere ? "Working in another window…" : "Working…";
}
