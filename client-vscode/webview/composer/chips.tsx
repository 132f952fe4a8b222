import type { JSX } from "preact";

import { type Attachment, labelOf } from "../../src/context/attachment";
import { post } from "../page";
import { Icon } from "../view/icon";

const ICONS: Record<Attachment["kind"], string> = { file: "file", lines: "symbol-method", problems: "warning", image: "file-media" };

interface ChipsProps {
  attachments: readonly Attachment[];
  /** The file that the editor shows. */
  openFile: string | undefined;
}

/** What is attached to the next message, and the open file as an offer. */
export function Chips({ attachments, openFile }: ChipsProps): JSX.Element | null {
  const offered = openFile !== undefined && !attachments.some((each) => each.kind === "file" && each.path === openFile) ? openFile : undefined;
  if (attachments.length === 0 && offered === undefined) return null;
  return (
    <ul class="chips" aria-label="Attached">
      {attachments.map((each, at) => (
        <li key={at} class="chip" data-testid="attachment" title={labelOf(each)}>
          {each.kind === "image" ? <img src={`data:${each.mimeType};base64,${each.data}`} alt="" /> : <Icon name={ICONS[each.kind]} />}
          <span class="chip-label">{shortened(labelOf(each))}</span>
          <button type="button" class="chip-remove" aria-label={`Remove ${labelOf(each)}`} onClick={() => { post({ type: "detach", at }); }}>
            <Icon name="close" />
          </button>
        </li>
      ))}
      {offered !== undefined && (
        <li>
          <button type="button" class="chip offer" title={`Attach ${offered}`} aria-label={`Attach ${offered}, the open file`} onClick={() => { post({ type: "attach", attachment: { kind: "file", path: offered } }); }}>
            <Icon name="add" />
            <span class="chip-label">{shortened(offered)}</span>
          </button>
        </li>
      )}
    </ul>
  );
}

/** A file's name; its folders are in the tooltip. */
function shortened(label: string): string {
  return label.split("/").at(-1) ?? label;
}
