import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";

import { serverSection } from "../settings/section";
import type { ServerEvents } from "../client";
import { restartingHandler } from "./endings";
import type { ServerCommand } from "./find";

/** What the client answers when the server asks; the server asks for nothing else. */
const ANSWERED = { sampling: true, tools: true, abortTurn: false };

export interface Launch {
  server: ServerCommand;
  /** Variables of the server's environment besides those of this process: the keys of models. */
  variables: Record<string, string>;
}

/** A language client, not started yet, for the server of `launch`. */
export function languageClient(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  { server, variables }: Launch,
  events: ServerEvents,
): LanguageClient {
  const section = (uri?: string) => serverSection(context.extension, uri === undefined ? undefined : vscode.Uri.parse(uri));
  // The folder is the extension's own, so that nothing in a checkout is picked up by the program.
  const options = { cwd: context.extensionPath, env: { ...process.env, ...variables }, windowsHide: true };
  return new LanguageClient(
    "coppice",
    "Coppice",
    { command: server.command, args: ["serve"], options },
    {
      documentSelector: [{ scheme: "file" }],
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { settings: section(), ...ANSWERED },
      errorHandler: restartingHandler(log, events),
      initializationFailedHandler: () => false,
      middleware: {
        // The language client would show work where nobody can stop it; its own display gets the end alone.
        handleWorkDoneProgress: (token, step, next) => {
          events.onProgress(token, step);
          if (step.kind === "end") next(token, step);
        },
        workspace: {
          configuration: ({ items }) => items.map((item) => (item.section === "coppice" ? section(item.scopeUri) : null)),
        },
      },
    },
  );
}
