import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import type { ApprovalDecision, ApprovalDetail, DiffHunk, PendingApproval } from "../../src/approvals/approval";
import { oneLine, visible } from "../../src/format";
import { MODES } from "../../src/modes/mode";
import { Markdown } from "../markdown/markdown";
import { post, requestFocus } from "../page";
import { Icon } from "./icon";
import { ScrollBox } from "./scroll-box";

const MODIFIER = navigator.userAgent.includes("Mac") ? "Cmd" : "Ctrl";
const LONGEST_ANNOUNCEMENT = 300;

/** The questions about tools that wait for an answer. They never take the focus. */
export function Approvals({ approvals }: { approvals: readonly PendingApproval[] }): JSX.Element {
  const byKey = approvals.find(({ interrupted }) => !interrupted);
  return <>{approvals.map((each) => <ApprovalCard key={each.id} approval={each} hasKeys={each === byKey} />)}</>;
}

/** What a screen reader reads of a question. */
export function approvalAnnouncement({ title, details }: PendingApproval): string {
  const command = details.find(({ kind }) => kind === "command");
  return oneLine(`Approval needed: ${title}. ${command?.kind === "command" ? command.command : ""}`, LONGEST_ANNOUNCEMENT);
}

/** `hasKeys`: the keys for *Allow* and *Deny* answer this question. */
function ApprovalCard({ approval, hasKeys }: { approval: PendingApproval; hasKeys: boolean }): JSX.Element {
  const { id, title, details, scope, covers, interrupted, proposal, reaches = [], reason } = approval;
  const [reply, setReply] = useState("");
  const heading = useId();
  const isPlan = details.some(({ kind }) => kind === "plan");
  const isEdit = details.some(({ kind }) => kind === "diff");
  const decide = (decision: ApprovalDecision): void => {
    // The card goes, and with it the focus: the input has it then, where Enter allows nothing.
    requestFocus();
    post({ type: "decide", id, decision });
  };
  const deny = (): void => { decide(reply.trim() === "" ? { kind: "deny" } : { kind: "deny", message: reply }); };
  return (
    <section class="item approval" role="group" aria-labelledby={heading} data-testid="approval">
      <h2 id={heading} class="approval-title"><Icon name="shield" label="Approval needed:" />{visible(title)}</h2>
      {interrupted && <p class="hint">The turn ended before this was answered. Allowing it asks the model to make the same call again.</p>}
      {reason !== undefined && <Note text={reason} />}
      {details.map((detail, at) => <Detail key={at} detail={detail} title={title} />)}
      {isEdit && !interrupted && (
        <div class="buttons">
          <button type="button" class="link" title="What you change in the document is what is written" onClick={() => { post({ type: "openEdit", id }); }}>Change the Edit…</button>
        </div>
      )}
      {isPlan ? <PlanButtons id={id} decide={decide} /> : <div class="buttons">
        <button type="button" class="button" onClick={() => { decide({ kind: "allow" }); }}>Allow</button>
        {scope !== null && !interrupted && (
          <button type="button" class="button secondary" onClick={() => { decide({ kind: "allowConversation" }); }}>Allow for This Conversation</button>
        )}
      </div>}
      {scope !== null && covers !== undefined && !interrupted && (
        <p class="hint">“This conversation” allows {visible(covers)}, on all branches, until the window is closed or reloaded.</p>
      )}
      {proposal !== undefined && !interrupted && (
        <div class="approval-rule" role="group" aria-label={`Allow ${visible(proposal)} from now on`}>
          <p class="hint">From now on allow {visible(proposal)}</p>
          {REACHES.filter(([reach]) => reaches.includes(reach)).map(([reach, label]) => (
            <button key={reach} type="button" class="button secondary" onClick={() => { decide({ kind: "allowRule", reach }); }}>{label}</button>
          ))}
          <button type="button" class="link" onClick={() => { post({ type: "run", command: "coppice.editPermissions" }); }}>Permissions…</button>
        </div>
      )}
      <form class="approval-deny" onSubmit={(event) => { event.preventDefault(); deny(); }}>
        <input
          type="text"
          value={reply}
          placeholder={isPlan ? "What is missing… (optional)" : "Instead… (optional)"}
          aria-label={isPlan ? "What the plan lacks" : "What the model should do instead"}
          onInput={(event) => { setReply(event.currentTarget.value); }}
        />
        <button type="submit" class="button secondary">{isPlan ? "Go On Planning" : "Deny"}</button>
      </form>
      {hasKeys && <p class="hint">{MODIFIER}+Alt+Y: {isPlan ? "approve and ask" : "allow"}. {MODIFIER}+Alt+D: {isPlan ? "go on planning" : "deny"}.</p>}
    </section>
  );
}

/** A plan is carried out in a mode; what is written in its document is what is approved. */
function PlanButtons({ id, decide }: { id: string; decide: (decision: ApprovalDecision) => void }): JSX.Element {
  return (
    <div class="buttons">
      <button type="button" class="button" title={MODES.ask.about} onClick={() => { decide({ kind: "allowPlan", mode: "ask" }); }}>Approve and Ask</button>
      <button type="button" class="button secondary" title={MODES.acceptEdits.about} onClick={() => { decide({ kind: "allowPlan", mode: "acceptEdits" }); }}>Approve and Accept Edits</button>
      <button type="button" class="link" title="What you change in the document is what you approve" onClick={() => { post({ type: "openPlan", id }); }}>Change the Plan…</button>
    </div>
  );
}

const REACHES = [["conversation", "In This Conversation"], ["workspace", "In This Workspace"], ["always", "Always"]] as const;

function Detail({ detail, title }: { detail: ApprovalDetail; title: string }): JSX.Element {
  switch (detail.kind) {
    case "command":
      return (
        <>
          {detail.directory !== undefined && <div class="part">In {visible(detail.directory)}</div>}
          <Block label="Command" text={detail.command} />
        </>
      );
    case "diff":
      return (
        <>
          {(detail.isNew || !title.includes(detail.path)) && <div class="part">{visible(detail.path)}{detail.isNew ? " (new file)" : ""}</div>}
          <Diff path={detail.path} hunks={detail.hunks} />
        </>
      );
    case "arguments":
      return <>{Object.entries(detail.arguments).map(([name, value]) => <Argument key={name} name={name} value={value} />)}</>;
    case "plan":
      return <ScrollBox class="approval-plan" label="Plan"><Markdown text={detail.text} /></ScrollBox>;
    case "note":
      return <Note text={detail.text} />;
  }
}

function Note({ text }: { text: string }): JSX.Element {
  return <p class="approval-note"><Icon name="warning" label="Note:" /><span>{visible(text)}</span></p>;
}

function Argument({ name, value }: { name: string; value: unknown }): JSX.Element {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <>
      <div class="part">{visible(name)}</div>
      <Block label={visible(name)} text={text} />
    </>
  );
}

/** All of a text, in a box that scrolls; characters that do not show are shown as their codes. */
function Block({ label, text }: { label: string; text: string }): JSX.Element {
  return <ScrollBox class="approval-text" label={label}><code>{visible(text)}</code></ScrollBox>;
}

const KINDS: Record<string, string> = { "+": "added", "-": "removed" };

function Diff({ path, hunks }: { path: string; hunks: readonly DiffHunk[] }): JSX.Element {
  return (
    <ScrollBox class="approval-text diff" label={`Changes of ${visible(path)}`}>
      {hunks.map(({ oldStart, newStart, lines }, at) => (
        <code key={at} class="hunk">
          <span class="hunk-head">{`@@ -${oldStart} +${newStart} @@`}</span>
          {lines.map((line, number) => <span key={number} class={`diff-line ${KINDS[line.charAt(0)] ?? ""}`}>{visible(line)}{"\n"}</span>)}
        </code>
      ))}
      {hunks.length === 0 && <code>The file stays as it is.</code>}
    </ScrollBox>
  );
}
