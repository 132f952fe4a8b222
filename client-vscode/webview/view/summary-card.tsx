import type { JSX } from "preact";
import { memo } from "preact/compat";

import { beforeAndAfter, counted, shortTokens } from "../../src/format";
import { Markdown } from "../markdown/markdown";
import { post } from "../page";
import type { SummaryItem } from "../state/items";
import { type Section, sections } from "../state/sections";
import type { PanelState } from "../state/state";
import { Fold } from "./fold";
import { Icon } from "./icon";
import { Path } from "./link";

export type Report = PanelState["reports"][string];

const FILE_BLOCKS = /\s*<(read|modified)-files>[\s\S]*?<\/\1-files>/g;

interface CardProps {
  item: SummaryItem;
  /** Only the newest compaction can be taken back, and not while something runs. */
  undoable: boolean;
  report?: Report | undefined;
}

/** A compaction or a branch summary: a line of numbers that opens to the summary. */
export const SummaryCard = memo(function SummaryCard({ item, undoable, report }: CardProps): JSX.Element {
  const compaction = item.kind === "compaction";
  const title = compaction ? "Compacted" : "Branch summary";
  const numbers = sizes(item);
  const head = (
    <>
      <Icon name={compaction ? "fold" : "git-branch"} />
      <span class="card-title">{title}</span>{" "}
      {numbers && <span class="card-numbers">{numbers}</span>}
    </>
  );
  return (
    <section class="card" data-testid={item.kind} aria-label={title}>
      <Fold head={head} entryId={item.id}>
        {() => (
          <>
            {sections(item.summary.replace(FILE_BLOCKS, "")).map(({ title: name, text }) => <Part key={name} title={name} text={text} />)}
            <Files title="Modified" paths={item.modifiedFiles} />
            <Files title="Read" paths={item.readFiles} />
            {report && <Loss report={report} />}
            <p class="hint">{origin(item)}</p>
            {undoable && (
              <button type="button" class="button secondary" onClick={() => { post({ type: "undoCompaction", entryId: item.id }); }}>
                Undo Compaction
              </button>
            )}
          </>
        )}
      </Fold>
      {report?.warnings.map((warning) => (
        <p key={warning} class="card-warning">
          <Icon name="warning" label="Warning:" />
          <span>{warning}</span>
        </p>
      ))}
    </section>
  );
});

/** A section, which folds away. */
function Part({ title, text }: Section): JSX.Element {
  if (title === "") return <Markdown text={text} references />;
  return (
    <div class="card-section">
      <Fold head={<span class="card-heading">{title}</span>} initiallyOpen>
        {() => <Markdown text={text} references />}
      </Fold>
    </div>
  );
}

function sizes({ tokensBefore, tokensAfter }: SummaryItem): string {
  if (tokensBefore === undefined) return "";
  return tokensAfter === undefined ? `${shortTokens(tokensBefore)} tokens` : beforeAndAfter(tokensBefore, tokensAfter);
}

const REASONS: Record<string, string> = {
  manual: "On request",
  threshold: "The context was nearly full",
  overflow: "The context was full",
};

function origin({ reason, writer }: SummaryItem): string {
  const why = REASONS[reason ?? ""];
  const who = writer === undefined ? undefined : writer === "offline" ? "written without a model" : `written by ${writer}`;
  return [why, who].filter((part) => part !== undefined).join(" · ");
}

function Loss({ report: { report } }: { report: Report }): JSX.Element {
  const { entries, tokens } = report.dropped;
  return (
    <p class="hint">
      The model no longer sees {counted(entries, "entry", "entries")} ({tokens.toLocaleString("en")} tokens)
      {report.unsupported !== undefined && report.unsupported.length > 0
        && `; in the summary, but not shown by what it replaces: ${report.unsupported.map(({ text }) => text).join(", ")}`}.
    </p>
  );
}

function Files({ title, paths }: { title: string; paths: readonly string[] }): JSX.Element | null {
  if (paths.length === 0) return null;
  return (
    <Fold head={<span>{`${title}: ${counted(paths.length, "file")}`}</span>}>
      {() => (
        <ul class="paths">
          {paths.map((path) => (
            <li key={path}><Path path={path} /></li>
          ))}
        </ul>
      )}
    </Fold>
  );
}
