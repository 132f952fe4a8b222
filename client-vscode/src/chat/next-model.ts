import type { NextChoice } from "../models/choice";
import type { ChatAccess, Feature } from "./feature";
import type { ToPage } from "./messages";

/** Shows the model that the next conversation begins with. */
export class NextModel implements Feature {
  constructor(
    access: Pick<ChatAccess, "post">,
    private readonly choice: NextChoice,
  ) {
    choice.onDidChange(() => { this.greet((message) => { access.post(message); }); });
  }

  greet(post: (message: ToPage) => void): void {
    post({ type: "nextModel", ...this.choice.current });
  }

  handle(): Promise<boolean> {
    return Promise.resolve(false);
  }
}
