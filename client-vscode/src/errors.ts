import type { ErrorCode } from "./protocol.gen";

/** A request that the server answered with an error. `message` is a sentence for people. */
export class CoppiceError extends Error {
  override readonly name: string = "CoppiceError";

  /** `code` names the case where the server could not do what was asked. */
  constructor(
    message: string,
    readonly code?: ErrorCode,
    /** What kind of failure of a model it was, `auth` or `rate-limit` for instance. */
    readonly kind?: string,
  ) {
    super(message);
  }
}

/** The server ended before it answered a request. */
export class ServerEndedError extends CoppiceError {
  override readonly name = "ServerEndedError";

  constructor() {
    super("The Coppice server has ended before it answered. What it had acknowledged is kept.");
  }
}

/** No server program was found. `message` says what a person can do about it. */
export class NoServerError extends Error {
  override readonly name = "NoServerError";
}

export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
