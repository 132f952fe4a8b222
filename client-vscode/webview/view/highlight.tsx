import type { ElementContent, Root } from "hast";
import { common, createLowlight } from "lowlight";
import { Fragment, type JSX } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";

/** Characters of a block that are coloured; longer ones would be felt while the page is drawn. */
const LONGEST = 20_000;

const lowlight = createLowlight(common);

/** Code in the colours of the editor's theme. What it is made of is elements and text, never HTML. */
export const Highlighted = memo(function Highlighted({ text, language }: { text: string; language: string }): JSX.Element {
  const tree = useMemo(() => parsed(text, language), [text, language]);
  return tree === undefined ? <>{text}</> : <>{elements(tree.children)}</>;
});

function parsed(text: string, language: string): Root | undefined {
  const name = language.toLowerCase();
  if (text.length > LONGEST || !lowlight.registered(name)) return undefined;
  return lowlight.highlight(name, text);
}

function elements(nodes: readonly (ElementContent | Root["children"][number])[]): JSX.Element[] {
  return nodes.map((node, at) => {
    if (node.type === "text") return <Fragment key={at}>{node.value}</Fragment>;
    if (node.type !== "element") return <Fragment key={at} />;
    const names = node.properties.className;
    return <span key={at} class={Array.isArray(names) ? names.join(" ") : ""}>{elements(node.children)}</span>;
  });
}
