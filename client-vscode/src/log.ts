import * as vscode from "vscode";

import { visible } from "./format";

/** The log of the extension and of the server. Whatever is written to it, escape sequences and hidden characters show as codes. */
export function createLog(): vscode.LogOutputChannel {
  const channel = vscode.window.createOutputChannel("Coppice", { log: true });
  return new Proxy(channel, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => Reflect.apply(value, target, given.map(shown)) as unknown;
    },
  });
}

function shown(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  return value instanceof Error ? visible(value.stack ?? value.message) : value;
}
