import type { Modes } from "../modes/modes";
import type { ChatAccess, Feature } from "./feature";
import type { FromPage, ToPage } from "./messages";

/** The choice of a mode in the composer. */
export class ModeChoice implements Feature {
  constructor(
    access: Pick<ChatAccess, "post">,
    private readonly modes: Modes,
  ) {
    modes.onDidChange(() => { this.greet((message) => { access.post(message); }); });
  }

  greet(post: (message: ToPage) => void): void {
    post({ type: "modes", modes: this.modes.all });
  }

  made(conversationId: string): void {
    this.modes.adopt(conversationId);
  }

  handle(message: FromPage, conversationId = ""): Promise<boolean> {
    if (message.type === "setMode") this.modes.set(conversationId, message.mode);
    return Promise.resolve(message.type === "setMode");
  }
}
