/** Markdown of a conversation, as elements. */
import { type ComponentChild, type ComponentChildren, Fragment, type JSX } from "preact";
import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";

import { Code } from "../view/code";
import { Icon } from "../view/icon";
import { Link } from "../view/link";
import { Reference } from "../view/reference";
import { grown, NOTHING } from "./growing";
import { LONGEST, MOST_ELEMENTS, type Node, parse, sizeOf, withReferences } from "./parse";

interface MarkdownProps {
  text: string;
  /** References to entries, `[#26c4206e]`, lead to them. */
  references?: boolean;
  /** It is part of what is too long together. */
  plain?: boolean;
}

export const Markdown = memo(function Markdown({ text, references = false, plain = false }: MarkdownProps): JSX.Element {
  const content = useMemo(() => {
    if (plain || text.length > LONGEST) return <Code text={text} />;
    const nodes = parse(text);
    if (sizeOf(nodes) > MOST_ELEMENTS) return <Code text={text} />;
    return elements(references ? withReferences(nodes) : nodes);
  }, [text, references, plain]);
  return <div class="markdown">{content}</div>;
});

/** Markdown that is still growing: only its end is parsed and rendered anew. */
export function GrowingMarkdown({ text }: { text: string }): JSX.Element {
  const shown = useRef({ text: "", parts: NOTHING });
  const before = text.startsWith(shown.current.text) ? shown.current.parts : NOTHING;
  const parts = grown(before, text);
  shown.current = { text, parts };
  return (
    <>
      {[...parts.pieces, parts.rest].map((piece, at) => (
        <Markdown key={at} text={piece} />
      ))}
      {parts.tail !== "" && <div class="markdown tail">{parts.tail}</div>}
    </>
  );
}

function elements(nodes: readonly Node[]): ComponentChildren {
  return nodes.map((node, at) => <Fragment key={at}>{element(node)}</Fragment>);
}

function element({ token, children, done, piece, reference, place }: Node): ComponentChild {
  switch (token.type) {
    case "inline":
      return elements(children);
    case "text":
      if (place !== undefined) return <Link href={place}>{place}</Link>;
      return reference === undefined ? (piece ?? token.content) : <Reference id={reference} />;
    case "paragraph_open":
      return token.hidden ? elements(children) : <p>{elements(children)}</p>;
    case "heading_open":
      return <Heading level={Number(token.tag.slice(1))}>{elements(children)}</Heading>;
    case "bullet_list_open":
      return <ul>{elements(children)}</ul>;
    case "ordered_list_open":
      return <NumberedList first={Number(token.attrGet("start") ?? 1)} count={children.length}>{elements(children)}</NumberedList>;
    case "list_item_open":
      return done === undefined ? <li>{elements(children)}</li> : <Task done={done}>{elements(children)}</Task>;
    case "blockquote_open":
      return <blockquote>{elements(children)}</blockquote>;
    case "table_open":
      return (
        <div class="table" tabIndex={0} role="region" aria-label="Table">
          <table>{elements(children)}</table>
        </div>
      );
    case "thead_open":
      return <thead>{elements(children)}</thead>;
    case "tbody_open":
      return <tbody>{elements(children)}</tbody>;
    case "tr_open":
      return <tr>{elements(children)}</tr>;
    case "th_open":
      return <th class={alignment(token)}>{elements(children)}</th>;
    case "td_open":
      return <td class={alignment(token)}>{elements(children)}</td>;
    case "em_open":
      return <em>{elements(children)}</em>;
    case "strong_open":
      return <strong>{elements(children)}</strong>;
    case "s_open":
      return <s>{elements(children)}</s>;
    case "link_open":
      return <Link href={String(token.attrGet("href") ?? "")}>{elements(children)}</Link>;
    case "image":
      return <span class="placeholder">[image: {token.content || "no description"}]</span>;
    case "code_inline":
      return place === undefined ? <code>{token.content}</code> : <Link href={place}><code>{place}</code></Link>;
    case "fence":
      return <Code text={token.content} language={token.info.trim().split(/\s+/)[0] ?? ""} applicable />;
    case "code_block":
      return <Code text={token.content} />;
    case "hr":
      return <hr />;
    case "softbreak":
    case "hardbreak":
      return <br />;
    default:
      return token.content;
  }
}

/** The class of a cell whose column is centred or right-aligned. The page's policy allows no style in the markup. */
function alignment(token: Node["token"]): string | undefined {
  const side = /^text-align:(center|right)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
  return side === undefined ? undefined : `align-${side}`;
}

/** A list with room for its longest number and the dot; the style sheet has room for two digits. */
function NumberedList({ first, count, children }: { first: number; count: number; children: ComponentChildren }): JSX.Element {
  const digits = String(first + count - 1).length;
  return <ol start={first} style={digits > 2 ? { paddingLeft: `${digits + 1}ch` } : undefined}>{children}</ol>;
}

/** A heading of a message ranks below those of the page. */
function Heading({ level, children }: { level: number; children: ComponentChildren }): JSX.Element {
  return (
    <div role="heading" aria-level={Math.min(6, level + 2)} class={`heading heading-${level}`}>
      {children}
    </div>
  );
}

function Task({ done, children }: { done: boolean; children: ComponentChildren }): JSX.Element {
  return (
    <li class="task">
      <Icon name={done ? "check" : "circle-large"} label={done ? "Done:" : "Open:"} />
      <div>{children}</div>
    </li>
  );
}
