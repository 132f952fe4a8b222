import type { ErrorWatch } from "./file-errors";
import type { CommandCall } from "./listed-command";
import type { MadeEdits } from "./made";
import type { Outcome, Program } from "./process";

/** A command, where it runs, and for how long. */
export interface CommandRun extends CommandCall {
  cwd: string;
  timeoutMs: number;
  /** What is started instead of a shell. */
  program?: Program | undefined;
}

/** What the tools need of the editor. Paths are absolute. */
export interface Host {
  /** The workspace's folders on a disk. */
  readonly folders: readonly string[];
  /** Nothing may be changed or run in a workspace that is not trusted. */
  readonly isTrusted: boolean;
  /** Where `ripgrep` is. Throws `ToolError` where there is none. */
  ripgrep(): Promise<string>;
  /** The edits that the tools made, which are remembered. */
  readonly made: MadeEdits;
  /** The text with unsaved changes of the editor; null where there is no file. Throws `ToolError` for what is no text. */
  read(path: string): Promise<string | null>;
  /** Replaces the text through the editor, so that it can be undone there, saves it, and gives what was saved. */
  write(path: string, text: string): Promise<string>;
  /** Looks at the errors that the editor shows in a file. It ends with `after`, or with the window. */
  watchErrors(path: string): ErrorWatch;
  /** Records the files as they are for a conversation, and names that state; undefined where that cannot be done. */
  recordState(conversationId: string): Promise<string | undefined>;
  /**
   * Runs a command in a terminal that a person sees, one that is a `program` without it; ends it when `stop` is aborted,
   * unless it was left running.
   */
  run(command: CommandRun, stop: AbortSignal): Promise<Outcome>;
}
