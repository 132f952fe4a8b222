/** A summary as its sections. */
export interface Section {
  /** Empty for what comes before the first heading. */
  title: string;
  text: string;
}

const HEADING = /^##[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(```|~~~)/;

/** Splits a text at its headings of the second level, as summaries have them; those in code are none. */
export function sections(text: string): readonly Section[] {
  const sections: { title: string; lines: string[] }[] = [{ title: "", lines: [] }];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark === fence)) fence = fence === undefined ? mark : undefined;
    const title = fence === undefined ? HEADING.exec(line)?.[1] : undefined;
    if (title === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ title: title.trim(), lines: [] });
  }
  return sections
    .map(({ title, lines }) => ({ title, text: lines.join("\n").trim() }))
    .filter(({ title, text: body }) => title !== "" || body !== "");
}
