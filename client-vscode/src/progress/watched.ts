import { randomUUID } from "node:crypto";
import * as vscode from "vscode";

import { plain } from "../format";
import type { CoppiceClient, Method, Params, Result } from "../client";

/** The methods that take a `workDoneToken`. */
type LongMethod = { [M in Method]: "workDoneToken" extends keyof Params<M> ? M : never }[Method];

/** Asks for long work and shows how far it is, in a notification that can stop it. */
export async function watched<M extends LongMethod>(
  client: CoppiceClient,
  title: string,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const workDoneToken = randomUUID();
    let reported = 0;
    const feed = client.progress.listen((of, work) => {
      if (of !== workDoneToken || work === undefined) return;
      const percentage = work.percentage ?? reported;
      progress.report({ increment: percentage - reported, message: plain(work.message ?? "") });
      reported = percentage;
    });
    try {
      return await client.watch(workDoneToken, () => client.request(method, { ...params, workDoneToken }, token));
    } finally {
      feed.dispose();
    }
  });
}
