import { stat } from "node:fs/promises";

import * as v from "valibot";

import { ToolError } from "../errors";
import { asked } from "../file-rules";
import { placeOf } from "../paths";
import type { Outcome } from "../process";
import { readOnlyRun } from "../read-only";
import { described, text, tool } from "../tool";

/** Seconds. Guesses: a test suite of a small project, and the longest that somebody waits for. */
const USUAL_SECONDS = 120;
const MOST_SECONDS = 3600;

/** Characters. Linux gives a program no argument of more bytes; permission rules read all of it. */
const LONGEST_COMMAND = 131_071;

/** What is stored with the result of a command that ran without a question, since it only reads. */
const READ_ONLY = { readOnly: true };

const schema = v.object({
  command: text("A command line for the shell.", LONGEST_COMMAND),
  folder: v.optional(described(v.string(), "The folder to run it in, relative to the workspace folder. Default: the workspace folder.")),
  timeoutSeconds: v.optional(
    described(v.pipe(v.number(), v.minValue(1), v.maxValue(MOST_SECONDS)), `Seconds after which the command is ended. Default: ${USUAL_SECONDS}.`),
  ),
});

export const runCommand = tool(
  "run_command",
  "Runs a command in a terminal of the editor and gives its output and exit code. Commands must end by themselves and cannot ask for input.",
  schema,
  true,
  async ({ command, folder = ".", timeoutSeconds = USUAL_SECONDS }, call) => {
    const place = await placeOf(call.host.folders, folder);
    // What is allowed for the conversation is this command in this folder, and no other.
    const scope = JSON.stringify(["run_command", place.path, command]);
    const ruled = asked(await call.fileRules.inCommand(command, place.path, call.stop));
    const details = [...ruled, { kind: "command" as const, command, directory: place.shown, place: { folder: place.folder, path: place.relative } }];
    await using reading = call.readOnlyCommands ? await readOnlyRun(command, place, call.host.folders, call.fileRules, call.stop) : undefined;
    const { isReadOnly = false } = await call.approve({ tool: "run_command", title: "Run a command", details, scope: ruled.length === 0 ? scope : null, covers: "this command in this folder", isReadOnly: reading !== undefined });
    call.stop.throwIfAborted();
    const { program, cwd } = isReadOnly && reading !== undefined ? reading : { cwd: place.path };
    const now = await placeOf(call.host.folders, cwd);
    const status = await stat(now.path).catch(() => undefined);
    if (now.path !== cwd || !status?.isDirectory()) throw new ToolError(`${place.shown} is no folder.`);
    const { conversationId, toolCallId } = call;
    const outcome = await call.host.run({ conversationId, toolCallId, command, cwd, program, timeoutMs: timeoutSeconds * 1000 }, call.stop);
    return {
      text: report(outcome, timeoutSeconds),
      isError: outcome.exitCode !== 0 && outcome.ending !== "left",
      details: { exitCode: outcome.exitCode ?? null, ending: outcome.ending, ...(isReadOnly ? READ_ONLY : {}) },
    };
  },
);

function report({ output, exitCode, ending }: Outcome, seconds: number): string {
  const last = {
    exited: `[Exit code ${exitCode ?? "unknown"}]`,
    timeout: `[Ended after ${seconds} seconds: the command did not end by itself.]`,
    stopped: "[Stopped by the user.]",
    left: "[The user leaves the command running. This is what it has printed so far. Do not run it again.]",
  }[ending];
  const printed = output.trimEnd();
  return printed === "" ? `[No output]\n${last}` : `${printed}\n${last}`;
}
