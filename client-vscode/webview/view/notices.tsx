import type { JSX } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

import type { BackgroundStatus, Work } from "../../src/chat/messages";
import { post } from "../page";
import type { Notice, Shown } from "../state/state";
import { Icon, IconButton } from "./icon";

/** Long work, as it goes on, with the button that stops it. */
export function WorkBar({ work }: { work: Work }): JSX.Element {
  const { title, stage, percentage } = work;
  const value = percentage === undefined ? {} : { "aria-valuenow": percentage };
  return (
    <section class="work" aria-label={title} data-testid="work">
      <div class="work-line">
        <span class="work-title">{title}{percentage === undefined ? "…" : ` ${percentage}%`}</span>
        <span class="work-stage">{stage}</span>
        {work.cancellable && <button type="button" class="link" onClick={() => { post({ type: "stop" }); }}>Cancel</button>}
      </div>
      <div class="work-track" role="progressbar" aria-label={title} aria-valuemin={0} aria-valuemax={100} {...value}>
        <div class={percentage === undefined ? "work-fill unknown" : "work-fill"} style={{ width: `${percentage ?? 100}%` }} />
      </div>
    </section>
  );
}

/** The summary of the next compaction, which nobody has to wait for. While a turn runs it is not taken by hand. */
export function BackgroundLine({ status, busy }: { status: BackgroundStatus; busy: boolean }): JSX.Element {
  return (
    <div class="background-line" role="status" data-testid="background">
      <Icon name={status === "ready" ? "check" : "sync"} />
      <span class="background-text">{status === "ready" ? "The summary for the next compaction is ready." : "Compacting in the background…"}</span>
      <button type="button" class="link" disabled={busy} title={busy ? "When the turn has ended" : undefined} onClick={() => { post({ type: "compact" }); }}>Compact Now</button>
    </div>
  );
}

/** A provider that fails for the moment: why, when it is asked again, and the buttons that ask now and give up. */
export function WaitBar({ wait: { attempt, until, message } }: { wait: NonNullable<Shown["wait"]> }): JSX.Element {
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, 1000, undefined);
    return () => { clearInterval(timer); };
  }, []);
  const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const when = seconds === 0 ? "Asking again…" : `Asking again in ${countdown(seconds)}`;
  return (
    <section class="wait" aria-label="Waiting for the provider" data-testid="wait">
      <p class="notice-text">{message}</p>
      <p class="buttons">
        <span class="wait-when">{when}{attempt > 1 && `, try ${attempt + 1}`}</span>
        <button type="button" class="button" disabled={seconds === 0} onClick={() => { post({ type: "askNow" }); }}>Now</button>
        <button type="button" class="button secondary" onClick={() => { post({ type: "stop" }); }}>Stop</button>
      </p>
    </section>
  );
}

function countdown(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
}

/** How long a notice that asks for nothing stays, in milliseconds; a guess. */
const INFO_MS = 10_000;

const ICONS = { info: "info", warning: "warning", error: "error" };
const WORDS = { info: "Note:", warning: "Warning:", error: "Error:" };

interface NoticesProps {
  notices: readonly Notice[];
  offeredModel: string | undefined;
  onDismiss: (id: number) => void;
}

export function Notices({ notices, offeredModel, onDismiss }: NoticesProps): JSX.Element {
  return (
    <div class="notices" role="status">
      {notices.map((notice) => <NoticeLine key={notice.id} notice={notice} offeredModel={offeredModel} onDismiss={() => { onDismiss(notice.id); }} />)}
    </div>
  );
}

/** A question of a conversation that is not shown here. */
export function OtherWaits(): JSX.Element {
  return (
    <div class="notice warning" role="note" data-testid="other-waits">
      <Icon name="bell-dot" label="Note:" />
      <p class="notice-text">
        Another conversation waits for your approval.{" "}
        <button type="button" class="link" onClick={() => { post({ type: "run", command: "coppice.showApproval" }); }}>Go There</button>
      </p>
    </div>
  );
}

/** What a workspace that is not trusted keeps a model from. */
export function RestrictedMode(): JSX.Element {
  return (
    <div class="notice info" role="note" data-testid="restricted">
      <Icon name="shield" label="Note:" />
      <p class="notice-text">
        Restricted Mode: files can be read. Nothing is changed or run, and AGENTS.md is not read.{" "}
        <button type="button" class="link" onClick={() => { post({ type: "run", command: "workbench.trust.manage" }); }}>Manage Trust</button>
      </p>
    </div>
  );
}

interface NoticeLineProps {
  notice: Notice;
  offeredModel: string | undefined;
  onDismiss: () => void;
}

function NoticeLine({ notice: { level, text, action }, offeredModel, onDismiss }: NoticeLineProps): JSX.Element {
  const [isHeld, setHeld] = useState(false);
  const leaves = level === "info" && action === undefined && !isHeld;
  useEffect(() => {
    if (!leaves) return undefined;
    const timer = setTimeout(onDismiss, INFO_MS);
    return () => { clearTimeout(timer); };
  }, [leaves]);
  return (
    <div class={`notice ${level}`} data-testid="notice" onMouseEnter={() => { setHeld(true); }} onMouseLeave={() => { setHeld(false); }}>
      <Icon name={ICONS[level]} label={WORDS[level]} />
      <p class="notice-text">{text}</p>
      <IconButton name="close" label="Dismiss" onClick={onDismiss} />
      {action && <Actions action={action} offeredModel={offeredModel} onTaken={onDismiss} />}
    </div>
  );
}

interface ActionsProps {
  action: NonNullable<Notice["action"]>;
  offeredModel: string | undefined;
  onTaken: () => void;
}

/** What can be done about a notice. Where a model is to be set up and VS Code offers one, that is one click. */
function Actions({ action, offeredModel, onTaken }: ActionsProps): JSX.Element {
  const offer = action.command === "coppice.setUpModel" ? offeredModel : undefined;
  const take = (): void => {
    post({ type: "takeModel" });
    onTaken();
  };
  return (
    <p class="buttons">
      {offer !== undefined && <button type="button" class="button" onClick={take}>Use {offer} of VS Code</button>}
      <button type="button" class={offer === undefined ? "button" : "button secondary"} onClick={() => { post({ type: "run", command: action.command }); }}>
        {action.label}
      </button>
    </p>
  );
}
