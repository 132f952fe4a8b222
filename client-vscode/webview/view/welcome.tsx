import type { JSX } from "preact";

import { post } from "../page";
import { Icon } from "./icon";

interface WelcomeProps {
  /** No model can answer yet. */
  needsModel: boolean;
  /** The model of VS Code that could answer. */
  offeredModel: string | undefined;
}

/** Shown where there is no message yet: the next step, and what else can be done. */
export function Welcome({ needsModel, offeredModel }: WelcomeProps): JSX.Element {
  return (
    <div class="welcome" data-testid="welcome">
      <Icon name="comment-discussion" />
      {needsModel ? <ChooseModel offeredModel={offeredModel} /> : <p>Ask about your code, or plan a change. You can come back to every message and go on from there in another way.</p>}
      <p>
        <button type="button" class="link" onClick={() => { post({ type: "run", command: "coppice.importConversation" }); }}>
          Import a conversation
        </button>
        {" from Pi, Claude Code, Codex or Coppice."}
      </p>
    </div>
  );
}

function ChooseModel({ offeredModel }: { offeredModel: string | undefined }): JSX.Element {
  return (
    <section aria-label="Model" data-testid="choose-model">
      <p>Choose the model that answers: one of VS Code, of a provider, or one on this machine.</p>
      <p class="buttons">
        {offeredModel !== undefined && <button type="button" class="button" onClick={() => { post({ type: "takeModel" }); }}>Use {offeredModel} of VS Code</button>}
        <button type="button" class={offeredModel === undefined ? "button" : "button secondary"} onClick={() => { post({ type: "run", command: "coppice.setUpModel" }); }}>Choose a Model</button>
      </p>
    </section>
  );
}
