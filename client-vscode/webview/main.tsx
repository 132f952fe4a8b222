import "@vscode/codicons/dist/codicon.css";
import "./style/base.css";
import "./style/log.css";
import "./style/markdown.css";
import "./style/footer.css";

import { render } from "preact";

import { toPageMessage } from "../src/chat/messages";
import { post, recall } from "./page";
import { type Action, INITIAL, reduce } from "./state/state";
import type { Filling } from "./view/composer";
import { Panel } from "./view/panel";

const root = document.getElementById("root");
let state = INITIAL;
let filling: Filling = { count: 0 };
let due = 0;

/** At most once a frame, however fast the reply comes in. */
function paint(): void {
  due = 0;
  if (root !== null) {
    render(<Panel state={state} filling={filling} onDismiss={(id) => { dispatch({ type: "dismiss", id }); }} />, root);
  }
}

function dispatch(action: Action): void {
  if (action.type === "memory") recall(action.memory);
  if (action.type === "focus") filling = { count: filling.count + 1 };
  if (action.type === "input") filling = { count: filling.count + 1, text: action.text, ifEmpty: action.ifEmpty };
  state = reduce(state, action);
  if (due === 0) due = requestAnimationFrame(paint);
}

addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = toPageMessage(event.data);
  if (message !== undefined) dispatch(message);
});

paint();
post({ type: "ready" });
