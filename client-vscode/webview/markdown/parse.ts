/** Markdown as a tree of tokens. No HTML is ever made of it: what renders a node knows every kind it renders. */
import MarkdownIt, { type Token } from "markdown-it";

import { atPlaces, isPlace } from "./links";

export interface Node {
  token: Token;
  children: readonly Node[];
  /** Of a list item that is a task: whether it is done. */
  done?: boolean;
  /** Of a text that holds references: a piece of it, or the entry that it refers to. */
  piece?: string;
  reference?: string;
  /** Of a text or code: the file and the line that it names. */
  place?: string;
}

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 40 });
// The renderer decides which links can be followed; the parser only finds them.
parser.validateLink = () => true;
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

export function parse(text: string): readonly Node[] {
  return withPlaces(nested(parser.parse(text, {})));
}

/** Longer text is shown as it is: nobody reads it as prose, and parsing it would be felt. */
export const LONGEST = 200_000;
/** The same for text that becomes more elements. A guess: a table of 500 rows has as many. */
export const MOST_ELEMENTS = 10_000;
/** With its buttons and frames. */
const ELEMENTS_OF_CODE = 10;

/** About how many elements the nodes become. */
export function sizeOf(nodes: readonly Node[]): number {
  return nodes.reduce((sum, { token, children }) => sum + sizeOf(children) + (token.type === "fence" || token.type === "code_block" ? ELEMENTS_OF_CODE : 1), 0);
}

/** Whether texts together are more than a page can show as elements. */
export function isTooLong(texts: readonly string[]): boolean {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length > LONGEST || texts.reduce((sum, text) => sum + sizeOf(parse(text)), 0) > MOST_ELEMENTS;
}

/** As the server writes them into summaries: an entry's id, or its first characters. */
const REFERENCE = /\[#([A-Za-z0-9_-]{1,80})\]/;

/** The nodes with the references in their texts, `[#26c4206e]`, as nodes of their own. */
export function withReferences(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (node.token.type !== "text") return [{ ...node, children: withReferences(node.children) }];
    if (node.place !== undefined) return [node];
    // Every second part is what the group of the expression matched.
    return (node.piece ?? node.token.content).split(REFERENCE).flatMap((part, at): Node[] => {
      if (at % 2 === 1) return [{ ...node, reference: part }];
      return part === "" ? [] : [{ ...node, piece: part }];
    });
  });
}

/** The nodes with the places of files in their texts, `src/lines.py:12`, as nodes of their own. A link leads elsewhere already. */
function withPlaces(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    const { type, content } = node.token;
    if (type === "link_open") return [node];
    if (type === "code_inline") return [isPlace(content) ? { ...node, place: content } : node];
    if (type !== "text") return [{ ...node, children: withPlaces(node.children) }];
    const parts = atPlaces(content);
    if (parts.length === 1) return [node];
    return parts.flatMap((part, at): Node[] => (at % 2 === 1 ? [{ ...node, place: part }] : part === "" ? [] : [{ ...node, piece: part }]));
  });
}

/** The number of characters before the last top-level block: those will not change their meaning any more. */
export function settled(text: string): number {
  const blocks = parser.parse(text, {}).filter((token) => token.level === 0 && token.nesting >= 0 && token.map);
  const line = blocks.length > 1 ? (blocks.at(-1)?.map?.[0] ?? 0) : 0;
  let at = 0;
  for (let count = 0; count < line; count += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

function nested(tokens: readonly Token[]): readonly Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const token of tokens) {
    if (token.nesting < 0) {
      if (open.length > 1) open.pop();
      const closed = open.at(-1)?.at(-1);
      if (closed !== undefined && token.type === "list_item_close") findTask(closed);
      continue;
    }
    const children: Node[] = token.children ? [...nested(token.children)] : [];
    open.at(-1)?.push({ token, children });
    if (token.nesting > 0) open.push(children);
  }
  return root;
}

const TASK = /^\[([ xX])\] /;

function findTask(item: Node): void {
  const text = firstText(item.children);
  const task = text && TASK.exec(text.content);
  if (!text || !task) return;
  text.content = text.content.slice(task[0].length);
  item.done = task[1] !== " ";
}

function firstText([first]: readonly Node[]): Token | undefined {
  return first === undefined || first.token.type === "text" ? first?.token : firstText(first.children);
}
