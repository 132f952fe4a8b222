import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { post } from "../page";
import { Highlighted } from "./highlight";
import { IconButton } from "./icon";

const LONGEST = 100_000;
const COPIED_FOR = 1500;

interface CodeProps {
  text: string;
  language?: string;
  label?: string;
  /** It is code of a message, which can be taken into an editor. */
  applicable?: boolean;
}

/** Text in a fixed-width font with a button that copies all of it. Very long text is shown in part. */
export function Code({ text, language = "", label = "Code", applicable = false }: CodeProps): JSX.Element {
  const hidden = Math.max(0, text.length - LONGEST);
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={language ? `${label}, ${language}` : label}>
        <code>{hidden > 0 ? text.slice(0, LONGEST) : <Highlighted text={text.replace(/\n$/, "")} language={language} />}</code>
      </pre>
      {hidden > 0 && <p class="hint">{hidden.toLocaleString()} characters more; copy to have all.</p>}
      <div class="code-buttons">
        {applicable && <IconButton name="insert" label="Insert at Cursor" onClick={() => { post({ type: "applyCode", text, language, action: "insert" }); }} />}
        {applicable && <IconButton name="go-to-file" label="Apply to File…" onClick={() => { post({ type: "applyCode", text, language, action: "apply" }); }} />}
        <CopyButton text={text} />
      </div>
    </div>
  );
}

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
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
  return <IconButton name={copied ? "check" : "copy"} label={copied ? "Copied" : label} onClick={copy} />;
}
