import type { ComponentChildren, JSX } from "preact";

import { followable } from "../markdown/links";
import { visible } from "../../src/format";
import { post } from "../page";

/** A link that the host follows after a check of its own; one that cannot be followed is text. */
export function Link({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  const target = followable(href);
  if (target === undefined) return <span>{children}</span>;
  const follow = (event: Event): void => {
    // VS Code would open it as well, unasked.
    event.preventDefault();
    event.stopPropagation();
    post({ type: "openLink", href: target });
  };
  const address = /^https?:/i.test(target) ? target : "#";
  return (
    <a href={address} title={visible(target)} onClick={follow} onAuxClick={follow}>
      {children}
    </a>
  );
}

/** A path in one line: where there is little room its folders are cut, and the file's name is not. */
export function ShortPath({ path }: { path: string }): JSX.Element {
  const end = path.lastIndexOf("/", path.length - 2) + 1;
  return (
    <span class="short-path">
      {end > 0 && <span class="short-path-folders">{visible(path.slice(0, end))}</span>}
      <span class="short-path-name">{visible(path.slice(end))}</span>
    </span>
  );
}

/** A file's path, which opens the file where it lies in the workspace. */
export function Path({ path }: { path: string }): JSX.Element {
  return (
    <Link href={path}>
      <code class="path">{visible(path)}</code>
    </Link>
  );
}
