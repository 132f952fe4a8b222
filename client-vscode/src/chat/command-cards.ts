import type { CommandList } from "../agent/command-list";
import type { ChatAccess, Feature } from "./feature";
import type { FromPage, ToPage } from "./messages";

/** Shows the commands that run with what they print, leaves them running, and ends them. */
export class CommandCards implements Feature {
  constructor(
    access: Pick<ChatAccess, "post">,
    private readonly commands: CommandList,
  ) {
    commands.onDidChange(() => { this.greet((message) => { access.post(message); }); });
  }

  greet(post: (message: ToPage) => void): void {
    post({ type: "commands", commands: this.commands.all() });
  }

  handle(message: FromPage): Promise<boolean> {
    if (message.type !== "command") return Promise.resolve(false);
    if (message.action === "leave") this.commands.leave(message.id);
    else this.commands.end(message.id);
    return Promise.resolve(true);
  }
}
