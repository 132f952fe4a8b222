import * as vscode from "vscode";

import { type Prices, pricesOf } from "./prices";

/** The prices that the user has set; those of a workspace are not read. */
export function setPrices(): Prices | undefined {
  return pricesOf(vscode.workspace.getConfiguration("coppice").inspect("chat.prices")?.globalValue);
}
