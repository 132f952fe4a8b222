import * as v from "valibot";

import { PRESENT_PLAN } from "../../modes/mode";
import { text, tool } from "../tool";

const schema = v.object({
  plan: text("The plan as Markdown: what is to be different, the files, the steps in order, how it will be checked, what is open."),
});

/** Offered in the mode *plan only*. An approved plan ends the turn: the next one has the tools to carry it out. */
export const presentPlan = tool(
  PRESENT_PLAN,
  "Shows the user a plan, which they can approve, change or refuse. Call it once the plan is complete; nothing can be changed before it is approved.",
  schema,
  false,
  async ({ plan }, call) => {
    const { mode = "ask", plan: changed } = await call.approve({ tool: PRESENT_PLAN, title: "Approve the plan", details: [{ kind: "plan", text: plan }], scope: null });
    call.stop.throwIfAborted();
    call.setMode(mode);
    const approved = changed === undefined ? "The user approved the plan. Carry it out now." : `The user changed the plan, and approved it as follows. Carry it out now.\n\n${changed}`;
    return { text: approved, endsTurn: true };
  },
);
