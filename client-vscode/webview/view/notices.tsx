import type { JSX } from "preact";

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
      {notices.map(({ id, level, text, action }) => (
        <div key={id} class={`notice ${level}`} data-testid="notice">
          <Icon name={ICONS[level]} label={WORDS[level]} />
          <p class="notice-text">{text}</p>
          <IconButton name="close" label="Dismiss" onClick={() => { onDismiss(id); }} />
          {action && <Actions action={action} offeredModel={offeredModel} onTaken={() => { onDismiss(id); }} />}
        </div>
      ))}
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
