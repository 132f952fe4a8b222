/** A tool call that cannot be done. `message` gives the model the reason, and what to do instead. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
