/** Which call a command is run for. */
export interface CommandCall {
  conversationId: string;
  toolCallId: string;
  command: string;
}

/** A command that runs, as the Chat view's page shows it. */
export interface ListedCommand extends CommandCall {
  id: string;
  /** The turn went on without it. */
  isLeft: boolean;
  /** The end of what it has printed. */
  tail: string;
}
