import { setTimeout as sleep } from "node:timers/promises";

/** How long anything in the window may take on a busy machine, in milliseconds. */
export const PATIENCE = 30_000;

/** Waits until `holds` gives something true, and gives it; after `patience` says what was waited for. */
export async function until<T>(what: string, holds: () => T | Promise<T>, patience = PATIENCE): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`Waited ${String(patience / 1000)} s in vain until ${what}.`);
    await sleep(50);
  }
}
