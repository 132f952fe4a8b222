import * as vscode from "vscode";
import { ConnectionError, ErrorCodes, type LanguageClient, LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import { CoppiceError, ServerEndedError } from "./errors";
import type { ErrorCode, Requests } from "./protocol.gen";

export type Method = keyof Requests;
export type Params<M extends Method> = Requests[M]["params"];
export type Result<M extends Method> = Requests[M]["result"];
/** The methods that send something before they answer, and what. */
export type StreamingMethod = { [M in Method]: Requests[M] extends { partialResult: unknown } ? M : never }[Method];
export type Part<M extends StreamingMethod> = Requests[M]["partialResult"];

/** The connection was closed: before the request was sent, or before the answer came. */
const UNANSWERED: number[] = [ErrorCodes.ConnectionInactive, ErrorCodes.PendingResponseRejected];

/** Throws `CoppiceError` where the server answers with one, `ServerEndedError` where it does not, `CancellationError` when it was cancelled. */
export async function send<M extends Method>(client: LanguageClient, method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
  try {
    // A token that is undefined would count as a second positional parameter.
    return await (token === undefined
      ? client.sendRequest<Result<M>>(method, params)
      : client.sendRequest<Result<M>>(method, params, token));
  } catch (error) {
    throw meaningOf(error);
  }
}

function meaningOf(error: unknown): unknown {
  if (error instanceof ConnectionError) return new ServerEndedError();
  if (!(error instanceof ResponseError)) return error;
  if (UNANSWERED.includes(error.code)) return new ServerEndedError();
  if (error.code === LSPErrorCodes.RequestCancelled) return new vscode.CancellationError();
  const data = error.data as { code?: ErrorCode; kind?: string } | undefined;
  return new CoppiceError(error.message, data?.code, data?.kind);
}
