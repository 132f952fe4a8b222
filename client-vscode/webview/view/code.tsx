import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { post } from "../page";
import { IconButton } from "./icon";

const LONGEST = 100_000;
const COPIED_FOR = 1500;

interface CodeProps {
  text: string;
  language?: string;
  label?: string;
}

/** Text in a fixed-width font with a button that copies all of it. Very long text is shown in part. */
export function Code({ text, language = "", label = "Code" }: CodeProps): JSX.Element {
  const hidden = Math.max(0, text.length - LONGEST);
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={language ? `${label}, ${language}` : label}>
        <code>{hidden > 0 ? text.slice(0, LONGEST) : text.replace(/\n$/, "")}</code>
      </pre>
      {hidden > 0 && <p class="hint">{hidden.toLocaleString()} characters more; copy to have all.</p>}
      <CopyButton text={text} />
    </div>
  );
}

function CopyButton({ text }: { text: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => { setCopied(false); }, COPIED_FOR);
    return () => { clearTimeout(timer); };
  }, [copied]);
  const copy = (): void => {
    post({ type: "copy", text });
    setCopied(true);
  };
  return <IconButton name={copied ? "check" : "copy"} label={copied ? "Copied" : "Copy"} onClick={copy} />;
}
