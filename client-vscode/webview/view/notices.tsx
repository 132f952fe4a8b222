import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Work } from "../../src/chat/messages";
import { post } from "../page";
import type { Notice } from "../state/state";
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
