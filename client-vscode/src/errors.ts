import type { ErrorCode } from "./protocol.gen";

/** A request that the server answered with an error. `message` is a sentence for people. */
export class CoppiceError extends Error {
  override readonly name = "CoppiceError";

  /** `code` tells which case it is where the server could not do what was asked. */
  constructor(
    message: string,
    readonly code?: ErrorCode,
  ) {
    super(message);
  }
}

/** There is no server to ask. `message` says what a person can do about it. */
export class NoServerError extends Error {
  override readonly name = "NoServerError";
}

export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
