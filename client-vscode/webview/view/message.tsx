import type { JSX } from "preact";
import { memo } from "preact/compat";
import { useContext, useMemo } from "preact/hooks";

import { GrowingMarkdown, Markdown } from "../markdown/markdown";
import { isTooLong } from "../markdown/parse";
import { post } from "../page";
import { type AssistantItem, type BashItem, type Block, type Item, textOf } from "../state/items";
import { Code, CopyButton } from "./code";
import { ChatContext } from "./context";
import { Figures } from "./figures";
import { Fold } from "./fold";
import { Icon, IconButton } from "./icon";
import { Images } from "./images";
import { MoreButton } from "./menu";
import { type Report, SummaryCard } from "./summary-card";
import { Tool } from "./tool";
import { UserMessage } from "./user-message";

interface MessageProps {
  item: Item;
  /** The turn that this item is the newest of still runs. */
  running: boolean;
  undoable: boolean;
  report?: Report | undefined;
}

export const Message = memo(function Message({ item, running, undoable, report }: MessageProps): JSX.Element {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "assistant":
      return <Assistant item={item} running={running} />;
    case "compaction":
    case "branchSummary":
      return <SummaryCard item={item} undoable={undoable} report={report} />;
    case "bash":
      return <Bash item={item} />;
    case "custom":
      return (
        <article class="message custom" data-testid="custom" aria-label={item.customType}>
          <div class="part">{item.customType}</div>
          <Markdown text={item.text} />
          <Images images={item.images} />
        </article>
      );
    case "instruction":
      return (
        <div class="aside" data-testid="instruction">
          <Fold head={<span>{item.role === "system" ? "System prompt" : "Developer message"}</span>} entryId={item.id}>
            {() => <Markdown text={item.text} />}
          </Fold>
        </div>
      );
    case "change":
      return <p class="change">{item.text}</p>;
    case "cleared":
      return (
        <p class="change" data-testid="cleared">
          {item.text} {undoable && <button type="button" class="link" aria-label="Undo Clearing" onClick={() => { post({ type: "undoCompaction", entryId: item.id }); }}>Undo</button>}
        </p>
      );
  }
});

function Assistant({ item, running }: { item: AssistantItem; running: boolean }): JSX.Element {
  const plain = useMemo(() => {
    const texts = item.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
    return texts.length > 1 && isTooLong(texts);
  }, [item.blocks]);
  return (
    <article class="message assistant" data-testid="assistant" aria-label="Assistant">
      {item.blocks.map((block, at) => <Part key={at} block={block} running={running} plain={plain} />)}
      <Ending item={item} />
      <Actions item={item} running={running} />
    </article>
  );
}

/** What can be done with a reply. */
function Actions({ item, running }: { item: AssistantItem; running: boolean }): JSX.Element | null {
  const { newest } = useContext(ChatContext);
  const text = textOf(item);
  const isUnfinished = item.stopReason === "length" || item.stopReason === "aborted" || item.stopReason === "error";
  const isLast = item.blocks.every(({ kind }) => kind !== "tool");
  if (running || (text === "" && !isUnfinished)) return null;
  if (!isLast && !isUnfinished) return <div class="step-actions"><MoreButton item={item} /></div>;
  return (
    <div class="message-end">
      <div class="message-actions">
        {text !== "" && isLast && <CopyButton text={text} label="Copy Reply" />}
        {newest?.replyId === item.id && (
          <IconButton name="refresh" label="Regenerate on a New Branch" onClick={() => { post({ type: "resend", entryId: newest.entryId }); }} />
        )}
        {item.stopReason === "length" && newest?.replyId === item.id && <IconButton name="debug-continue" label="Continue" onClick={() => { post({ type: "resume" }); }} />}
        <MoreButton item={item} />
      </div>
      {isLast && <Figures of={item.turn} />}
    </div>
  );
}

function Ending({ item: { id, stopReason, error } }: { item: AssistantItem }): JSX.Element | null {
  const { failed } = useContext(ChatContext);
  if (stopReason === "aborted") {
    return <div class="ending"><Icon name="debug-stop" /><div>Stopped.<TryAgain id={id} /></div></div>;
  }
  if (stopReason === "error" || error !== undefined) {
    return <div class="ending failed" role="note"><Icon name="error" label="Error:" /><div>{failed?.replyId === id && failed.kind === "auth" ? firstSentence(error) : error ?? "The model's reply failed."}<TryAgain id={id} /></div></div>;
  }
  if (stopReason === "length") {
    return <p class="ending"><Icon name="warning" label="Note:" />The reply was cut off at its token limit.</p>;
  }
  return null;
}

/** What follows the first sentence names variables and settings; here a button sets the key. */
function firstSentence(error = ""): string {
  return error.split(/(?<=\.)\s/)[0] ?? "";
}

/** Goes on with a turn that was broken off. */
export function Resume(): JSX.Element {
  return <button type="button" class="button" onClick={() => { post({ type: "resume" }); }}>Continue</button>;
}

/** What helps after a turn that failed, at the end of the conversation. */
function TryAgain({ id }: { id: string }): JSX.Element | null {
  const { failed } = useContext(ChatContext);
  if (failed?.replyId !== id) return null;
  return (
    <p class="buttons">
      {failed.kind === "auth" && <button type="button" class="button" onClick={() => { post({ type: "run", command: "coppice.setApiKey" }); }}>Set API Key</button>}
      {failed.kind === "not-found" && <button type="button" class="button" onClick={() => { post({ type: "run", command: "coppice.setUpModel" }); }}>Choose a Model</button>}
      <Resume />
      <button type="button" class="button secondary" title="Asks again on a new branch" onClick={() => { post({ type: "resend", entryId: failed.entryId }); }}>Retry</button>
    </p>
  );
}

function Part({ block, running, plain = false }: { block: Block; running: boolean; plain?: boolean }): JSX.Element {
  switch (block.kind) {
    case "text":
      return <Markdown text={block.text} plain={plain} />;
    case "thinking":
      return <Thinking text={block.text} />;
    case "tool":
      return <Tool use={block} running={running} />;
  }
}

function Thinking({ text, growing = false }: { text: string; growing?: boolean }): JSX.Element {
  return (
    <div class="aside" data-testid="thinking">
      <Fold head={<span class={growing ? "shimmer" : ""}>Thinking{growing && "…"}</span>}>
        {() => <Markdown text={text} />}
      </Fold>
    </div>
  );
}

/** The reply that is being written. */
export function DraftMessage({ blocks }: { blocks: readonly Block[] }): JSX.Element {
  return (
    <article class="message assistant draft" data-testid="draft" aria-label="Assistant">
      {blocks.map((block, at) => {
        const growing = at === blocks.length - 1;
        if (block.kind === "text" && growing) return <GrowingMarkdown key={at} text={block.text} />;
        if (block.kind === "thinking") return <Thinking key={at} text={block.text} growing={growing} />;
        return <Part key={at} block={block} running />;
      })}
    </article>
  );
}

function Bash({ item }: { item: BashItem }): JSX.Element {
  const remarks = item.remarks.join(", ");
  const head = (
    <>
      <Icon name="terminal" />
      <span class="hidden">Command </span>
      <code class="tool-about">{item.command}</code>{" "}
      {remarks && <span class="remarks">{remarks}</span>}
      {item.failed && <span class="tool-state tool-failed"><Icon name="error" label="failed" /></span>}
    </>
  );
  return (
    <div class="tool" data-testid="bash">
      <Fold head={head} entryId={item.id}>
        {() => (item.output === "" ? <p class="hint">No output.</p> : <Code text={item.output} label="Output" />)}
      </Fold>
    </div>
  );
}
