/** A tool call that cannot be done. `message` gives the model the reason, and what to do instead. */
export class ToolError extends Error {
  override readonly name: string = "ToolError";
}

/** A call that a person or a rule of theirs refuses. */
export class DeniedError extends ToolError {
  override readonly name = "DeniedError";
}

/** What is stored with the result of a call that was refused. */
export const DENIED = { denied: true };

/** What is stored with the error of a call that was not carried out: its text is no output. */
export const NOT_RUN = { notRun: true };
