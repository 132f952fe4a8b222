/** What single messages need to know of the chat around them. */
import { createContext } from "preact";

import type { Pricing } from "../../src/chat/prices";
import { pricingOf } from "../state/chosen-model";
import type { PanelState, Shown } from "../state/state";

export interface ChatSurroundings {
  /** Something runs, or the branch is only looked at: nothing can be sent. */
  busy: boolean;
  enterSends: boolean;
  pricing?: Pricing | undefined;
  /** The newest reply, and the user's message that it can be made anew from. */
  newest?: { replyId: string; entryId: string } | undefined;
  /** The reply that ended in an error at the end of the conversation, and the user's message that can be sent again. */
  failed?: { replyId: string; entryId: string; kind: "auth" | "not-found" | undefined } | undefined;
}

export const ChatContext = createContext<ChatSurroundings>({ busy: false, enterSends: true });

let last: ChatSurroundings = { busy: false, enterSends: true };

/** The same object as before where nothing has changed, so that messages are not drawn again. */
export function chatContext(state: PanelState, { items, running, work, failure, preview }: Shown): ChatSurroundings {
  const busy = running || work !== undefined || preview !== undefined;
  const reply = items.at(-1);
  const asked = items.findLast(({ kind }) => kind === "user");
  const isFailed = !busy && reply?.kind === "assistant" && (reply.stopReason === "error" || reply.stopReason === "aborted");
  const failed = isFailed && asked !== undefined ? { replyId: reply.id, entryId: asked.id, kind: failure?.kind } : undefined;
  const newest = !busy && reply?.kind === "assistant" && asked !== undefined ? { replyId: reply.id, entryId: asked.id } : undefined;
  const { enterSends } = state;
  const now = { busy, enterSends, pricing: pricingOf(state), newest, failed };
  if (JSON.stringify(now) !== JSON.stringify(last)) last = now;
  return last;
}
