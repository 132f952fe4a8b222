import "@vscode/codicons/dist/codicon.css";
import "./style/base.css";
import "./style/log.css";
import "./style/markdown.css";
import "./style/footer.css";
import "./style/approval.css";
import "./style/edit.css";
import "./style/command.css";
import "./style/files-offer.css";
import "./style/turn-files.css";
import "./style/composer.css";
import "./style/highlight.css";
import "./style/marks.css";

import { render } from "preact";

import { toPageMessage } from "../src/chat/messages";
import { keepConversation, moveDraft, post, recall, requestFocus, takeDraft } from "./page";
import { answerable, answerOf, type SeenSince, seenSince } from "./state/answering";
import { type Action, INITIAL, reduce } from "./state/state";
import { CommandContext } from "./view/command";
import { VerdictContext } from "./view/edit";
import { Panel } from "./view/panel";

const root = document.getElementById("root");
let state = INITIAL;
let seen: SeenSince = {};
let due = 0;

/** At most once a frame, however fast the reply comes in. */
function paint(): void {
  due = 0;
  if (root !== null) {
    const panel = <Panel state={state} onDismiss={(id) => { dispatch({ type: "dismiss", id }); }} />;
    render(<CommandContext.Provider value={state.commands}><VerdictContext.Provider value={state.verdicts}>{panel}</VerdictContext.Provider></CommandContext.Provider>, root);
  }
}

/** A key answers the oldest question of the shown conversation. */
function answer(key: "allow" | "deny"): void {
  const asked = answerable(state.approvals, state.shown?.conversation?.id ?? "");
  const decision = asked && answerOf(asked, key, seen, Date.now());
  if (decision === undefined) return;
  requestFocus();
  post({ type: "decide", id: asked?.id ?? "", decision });
}

function dispatch(action: Action): void {
  if (action.type === "memory") recall(action.memory);
  if (action.type === "focus") requestFocus();
  if (action.type === "draft") takeDraft(action.conversationId, action.text);
  if (action.type === "shown") keepConversation(action.conversation?.id);
  if (action.type === "shown" && action.isMade && action.conversation) moveDraft("", action.conversation.id);
  if (action.type === "approvals") seen = seenSince(seen, action.approvals, Date.now());
  if (action.type === "answerApproval") answer(action.decision);
  state = reduce(state, action);
  if (due === 0) due = requestAnimationFrame(paint);
}

addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = toPageMessage(event.data);
  if (message !== undefined) dispatch(message);
});

addEventListener("focus", takeFocus);
addEventListener("blur", () => { post({ type: "blurred" }); });
// VS Code in a browser leaves every key with Ctrl and C to the page.
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.altKey && !event.shiftKey && event.code === "KeyC") requestFocus();
});

function takeFocus(): void {
  post({ type: "focused" });
  focusInputUnlessClicked();
}

/** Milliseconds in which a click follows the focus that it gives. */
const CLICK_MS = 100;
let pressed = -Infinity;
addEventListener("pointerdown", () => { pressed = performance.now(); }, true);

/** A command or a key gives the focus to the page as a whole, for which the input is meant; a click goes where it is. */
function focusInputUnlessClicked(): void {
  const since = performance.now() - CLICK_MS;
  setTimeout(() => {
    if (pressed < since && document.hasFocus() && (document.activeElement ?? document.body) === document.body) requestFocus();
  }, CLICK_MS);
}

paint();
post({ type: "ready" });
// A new page may have the focus before its script listens.
if (document.hasFocus()) takeFocus();
