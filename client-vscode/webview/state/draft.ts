/** The reply that is being written: what has been sent of it so far. */
import type { PromptUpdate } from "../../src/protocol.gen";
import type { Block } from "./items";

export type Draft = readonly Block[];

type Piece = Extract<PromptUpdate, { kind: "text" | "thinking" | "toolCall" }>;

/** The draft with one more piece. Only the last block ever changes. */
export function withPiece(draft: Draft, piece: Piece): Draft {
  if (piece.kind === "toolCall") {
    return [
      ...draft,
      { kind: "tool", callId: piece.toolCallId, name: piece.name, call: { arguments: piece.arguments } },
    ];
  }
  const last = draft.at(-1);
  return last?.kind === piece.kind
    ? draft.with(-1, { kind: piece.kind, text: last.text + piece.text })
    : [...draft, { kind: piece.kind, text: piece.text }];
}
