import { posix, win32 } from "node:path";

import { relativeWithin } from "../agent/paths";
import { isWindows } from "../operating-system";

/** Where a link of a message leads: to the web, or to a file in one of the workspace's folders. */
export type Target =
  | { kind: "web"; url: string }
  | { kind: "file"; path: string; line?: number };

const PLACE = /(?:#L?|:)(\d+)(?:[-:,]L?\d+)*$/;

/**
 * Decides whether a link may be followed. `folders` are the absolute paths of the workspace's folders; a
 * relative path is one of the first. Nothing comes back for what leads elsewhere: other schemes, other hosts'
 * files, paths out of the folders.
 */
export function target(href: string, folders: readonly string[], windows = isWindows()): Target | undefined {
  if (/^https?:/i.test(href)) return webTarget(href);
  const place = PLACE.exec(href);
  const path = filePath(place === null ? href : href.slice(0, place.index), windows);
  const [first] = folders;
  if (path === undefined || first === undefined) return undefined;
  const rules = windows ? win32 : posix;
  const absolute = rules.resolve(first, path);
  // A folder of the workspace is no file.
  if (!folders.some((folder) => (relativeWithin(folder, absolute, rules) ?? "") !== "")) return undefined;
  return { kind: "file", path: absolute, ...(place === null ? {} : { line: Number(place[1]) }) };
}

function webTarget(href: string): Target | undefined {
  return URL.canParse(href) ? { kind: "web", url: new URL(href).href } : undefined;
}

function filePath(href: string, windows: boolean): string | undefined {
  if (/^file:/i.test(href)) {
    if (!URL.canParse(href)) return undefined;
    const { host, pathname } = new URL(href);
    const path = decoded(pathname);
    if (host !== "") return windows && path !== undefined ? `\\\\${host}${path}` : undefined;
    return windows ? path?.replace(/^\/(?=[a-z]:)/i, "") : path;
  }
  const isDrive = windows && /^[a-z]:(?:[\\/]|%5c)/i.test(href);
  if (!isDrive && /^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined;
  return decoded(href);
}

function decoded(path: string): string | undefined {
  try {
    const plain = decodeURIComponent(path);
    return plain === "" || plain.includes("\0") ? undefined : plain;
  } catch {
    return undefined;
  }
}
