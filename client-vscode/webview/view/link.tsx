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

/** A file's path, which opens the file where it lies in the workspace. */
export function Path({ path }: { path: string }): JSX.Element {
  return (
    <Link href={path}>
      <code class="path">{visible(path)}</code>
    </Link>
  );
}
