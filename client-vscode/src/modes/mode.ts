/** How far a model may go in a conversation without asking. Shared by the host and the Chat view's page. */
import * as v from "valibot";

export const MODES = {
  ask: { label: "Ask", about: "Asks before each edit and command that no rule allows, but for commands that only read" },
  acceptEdits: { label: "Accept Edits", about: "Edits files without asking, but for sensitive ones; asks before commands. Tools that watch files may run edited code at once" },
  plan: { label: "Plan Only", about: "Reads and changes nothing; proposes a plan that you approve" },
} as const;

/** The tool by which a model shows its plan. */
export const PRESENT_PLAN = "present_plan";

export type Mode = keyof typeof MODES;
/** A mode in which an approved plan is carried out. */
export type WorkMode = Exclude<Mode, "plan">;

export const mode = v.picklist(Object.keys(MODES) as Mode[]);
export const workMode = v.picklist(["ask", "acceptEdits"]);
/** By conversation; those that ask are left out. An empty id is the one that the first message will make. */
export const modes = v.record(v.string(), mode);

export type ModesByConversation = v.InferOutput<typeof modes>;
