import type { JSX } from "preact";

import { visible } from "../../src/format";

const KINDS: Record<string, string> = { "+": "added", "-": "removed" };

/** A unified patch of one file, without its header. */
export function PatchView({ path, patch }: { path: string; patch: string }): JSX.Element {
  const lines = patch.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={`Changes of ${visible(path)}`}>
      <code>
        {lines.slice(first < 0 ? lines.length : first).map((line, at) => (
          <span key={at} class={line.startsWith("@@") ? "hunk-head" : `diff-line ${KINDS[line.charAt(0)] ?? ""}`}>{visible(line)}{"\n"}</span>
        ))}
      </code>
    </pre>
  );
}

/** `+3 −1` */
export function patchSize(patch: string): { added: number; removed: number } {
  const lines = patch.split("\n").slice(4);
  return { added: lines.filter((line) => line.startsWith("+")).length, removed: lines.filter((line) => line.startsWith("-")).length };
}
