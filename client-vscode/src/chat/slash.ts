import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { CoppiceError } from "../errors";
import type { SlashCommand } from "../context/messages";
import type { Feature } from "./feature";
import type { FromPage } from "./messages";

/** Those that are commands of the palette as they are. */
const PALETTE: Partial<Record<SlashCommand, string>> = {
  fork: "coppice.forkConversation",
  model: "coppice.pickModel",
  context: "coppice.showContext",
  tools: "coppice.chooseTools",
};

/** The commands that are typed into the message's input after a `/`. */
export class SlashCommands implements Feature {
  constructor(
    private readonly client: CoppiceClient,
    private readonly select: (conversationId: undefined) => Promise<void>,
  ) {}

  greet(): void {
    // The page knows the commands by itself.
  }

  async handle(message: FromPage, conversationId: string | undefined): Promise<boolean> {
    if (message.type !== "slash") return false;
    const argument = message.argument.trim();
    const command = PALETTE[message.command];
    if (message.command === "note") await vscode.commands.executeCommand("coppice.addNote", argument);
    else if (command !== undefined) await vscode.commands.executeCommand(command);
    else if (message.command === "clear") await this.select(undefined);
    else if (conversationId === undefined) throw new CoppiceError("There is no conversation yet.");
    else if (message.command === "compact") await this.client.request("coppice/compact", { conversationId, instructions: argument === "" ? null : argument });
    else if (argument === "") await vscode.commands.executeCommand("coppice.renameConversation");
    else await this.client.request("coppice/conversation/rename", { conversationId, name: argument });
    return true;
  }
}
