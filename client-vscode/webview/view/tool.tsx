import type { JSX } from "preact";
import { memo } from "preact/compat";

import { PRESENT_PLAN } from "../../src/modes/mode";
import { callSummary } from "../format";
import { Markdown } from "../markdown/markdown";
import type { ToolUse } from "../state/items";
import { Code } from "./code";
import { LiveCommand } from "./command";
import { Edit } from "./edit";
import { Fold } from "./fold";
import { Icon } from "./icon";
import { ShortPath } from "./link";
import { Images } from "./images";

type ToolState = "running" | "done" | "failed" | "denied" | "unanswered";

const ICONS: Record<ToolState, string> = {
  running: "loading",
  done: "check",
  failed: "error",
  denied: "circle-slash",
  unanswered: "circle-slash",
};
const WORDS: Record<ToolState, string> = {
  running: "running",
  done: "done",
  failed: "failed",
  denied: "denied",
  unanswered: "no result",
};

/** A tool's call with its result inside. `running` says that the turn it belongs to still runs. */
export const Tool = memo(function Tool({ use, running }: { use: ToolUse; running: boolean }): JSX.Element {
  const state = toolState(use, running);
  const about = callSummary(use.call?.arguments ?? {});
  const plan = planOf(use);
  const head = (
    <>
      <span class="hidden">Tool </span>
      <span class="tool-name">{use.name}</span>{" "}
      <span class="tool-about" title={about}>{isPath(use, about) ? <ShortPath path={about} /> : about}</span>{" "}
      {use.result?.isReadOnly && <span class="tool-read-only" title="Ran without a question and without a shell, since it only reads">read-only</span>}{" "}
      <span class={`tool-state tool-${state}`} title={WORDS[state]}>
        <Icon name={ICONS[state]} label={WORDS[state]} spin={state === "running"} />
      </span>
    </>
  );
  return (
    <div class="tool" data-testid="tool" data-result={use.result?.entryId}>
      <Fold head={head} entryId={use.result?.entryId}>{() => <Details use={use} />}</Fold>
      {running && use.result === undefined && <LiveCommand toolCallId={use.callId} />}
      {plan !== undefined && <div class="plan"><Markdown text={plan} /></div>}
      {use.result?.change && <Edit toolCallId={use.callId} entryId={use.result.entryId} change={use.result.change} />}
    </div>
  );
});

function Details({ use }: { use: ToolUse }): JSX.Element {
  const { call, result } = use;
  return (
    <>
      {call && Object.entries(call.arguments).map(([name, value]) => <Argument key={name} name={name} value={value} />)}
      {result && result.text !== "" && (
        <>
          <div class="part">{word(result)}</div>
          <Code text={result.text} label={word(result)} />
        </>
      )}
      {result && <Images images={result.images} />}
      {result?.text === "" && result.images.length === 0 && <p class="hint">The result is empty.</p>}
    </>
  );
}

function Argument({ name, value }: { name: string; value: unknown }): JSX.Element {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const short = text.length <= 60 && !text.includes("\n");
  return (
    <div class="argument">
      <div class="part">{name}</div>
      {short ? <code>{text}</code> : <Code text={text} label={name} />}
    </div>
  );
}

/** The plan of a call that was answered; until then the approval shows it. */
function planOf({ name, call, result }: ToolUse): string | undefined {
  const plan = name === PRESENT_PLAN && result !== undefined ? call?.arguments["plan"] : undefined;
  return typeof plan === "string" ? plan : undefined;
}

function isPath({ call }: ToolUse, about: string): boolean {
  return ["path", "file_path", "filePath"].some((name) => call?.arguments[name] === about);
}

function word({ isDenied, isError }: NonNullable<ToolUse["result"]>): string {
  return isDenied ? "Denied" : isError ? "Error" : "Result";
}

function toolState({ result }: ToolUse, running: boolean): ToolState {
  if (result) return result.isDenied ? "denied" : result.isError ? "failed" : "done";
  return running ? "running" : "unanswered";
}
