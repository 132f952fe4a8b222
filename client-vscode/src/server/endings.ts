import { setTimeout as wait } from "node:timers/promises";
import type * as vscode from "vscode";
import { CloseAction, type CloseHandlerResult, ErrorAction, type ErrorHandler } from "vscode-languageclient/node";

import type { ServerEvents } from "../client";
import { Backoff } from "./backoff";

/** Starts a server that ended by itself again, until it ends too often. */
export function restartingHandler(log: vscode.LogOutputChannel, { onEnded, onGivenUp }: ServerEvents): ErrorHandler {
  const backoff = new Backoff();
  return {
    error: (error) => {
      log.error(`The connection to the server: ${error.message}`);
      return { action: ErrorAction.Continue, handled: true };
    },
    closed: async (): Promise<CloseHandlerResult> => {
      const delay = backoff.delayAfterEnd(Date.now());
      if (delay === undefined) {
        onGivenUp();
        return { action: CloseAction.DoNotRestart, handled: true };
      }
      onEnded();
      log.warn(`The server has ended. It is started again in ${delay} ms.`);
      await wait(delay);
      return { action: CloseAction.Restart, handled: true };
    },
  };
}
