import type { ApprovalDetail } from "./approval";

/** Details of a call of a tool that says no more about itself: its command where it has one, then all else it was given. */
export function argumentDetails(given: Record<string, unknown>): ApprovalDetail[] {
  const { command, ...others } = given;
  if (typeof command !== "string") return [{ kind: "arguments", arguments: given }];
  const details: ApprovalDetail[] = [{ kind: "command", command }];
  return Object.keys(others).length === 0 ? details : [...details, { kind: "arguments", arguments: others }];
}
