/** Text that is put between tags, made unable to open or close them, as the server's `tree/tags.py` does it; and names within sentences. */

import { visibleLine } from "../format";

const BRACKETS = /[<＜﹤‹〈〈⟨❬❮⧼˂ᐸ≺≮]/gu;
const SLASHES = /[/／⁄∕⧸⟋\\]/u;
const DASHES = /[-_＿‐‑‒–—―−﹘﹣－⁃⸺⸻֊־]/u;
/** What shows nothing by itself: blanks, accents, formats, controls. */
const UNSEEN = /[\s\p{M}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/u;

/** Code has `a < attachment`, where no tag is closed. */
const BLANK = /[ \t-\r]/;
/** Code has `attachments` and `attachment_count`. */
const GOES_ON = /[A-Za-z0-9_]/;

/** Of each letter, the letters of other alphabets and the signs that are read as it. */
const READ_AS: Record<string, string> = {
  a: "аαɑ", b: "ьвβ", c: "сϲ", d: "ԁ", e: "еε", f: "ƒ", g: "ɡԍ", h: "һнհ", i: "іı", j: "ј", k: "κк", l: "ӏі|1", m: "м", n: "пոη", o: "о0",
  p: "рρ", q: "ԛ", r: "гᴦ", s: "ѕ", t: "тτ", u: "υսц", v: "νѵ", w: "ԝѡ", x: "х", y: "у", z: "ᴢ",
};

/** `text` between `<name attributes>` and `</name>`. */
export function tagged(name: string, attributes: string, text: string): string {
  return `<${name}${attributes}>\n${withoutTag(text, name)}\n</${name}>`;
}

/** `text` with `&lt;` for the `<` of whatever a model could read as the tag `name`, opening or closing. Linear: each search ends at the next bracket. */
export function withoutTag(text: string, name: string): string {
  const letters = name.replace(/[-_]/g, "");
  return text.replace(BRACKETS, (bracket, at: number) => (begins(text, at + bracket.length, letters) ? "&lt;" : bracket));
}

function begins(text: string, from: number, letters: string): boolean {
  let matched = 0;
  let [isSpaced, closes] = [false, false];
  for (let place = from; place < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(place) ?? 0);
    place += character.length;
    if (matched === 0) {
      isSpaced ||= BLANK.test(character);
      closes ||= SLASHES.test(character);
      if (SLASHES.test(character)) continue;
    } else if (DASHES.test(character)) continue;
    for (const part of character.normalize("NFKD").toLowerCase()) {
      if (UNSEEN.test(part)) continue;
      const expected = letters[matched] ?? "";
      if (part !== expected && READ_AS[expected]?.includes(part) !== true) return false;
      matched += 1;
      if (matched === letters.length) return (closes || !isSpaced) && !GOES_ON.test(text[place] ?? "");
    }
  }
  return false;
}

/** Marks that end an attribute or a line. */
const ENDING = /["\p{Cc}\u2028\u2029]/gu;

/**
 * A name from outside, within a sentence that a model reads as the user's: on one line, in quotes, which it cannot end,
 * and without the beginning of a tag.
 */
export function quotedName(name: string): string {
  return `"${visibleLine(name.replace(BRACKETS, "&lt;")).replaceAll('"', "&quot;")}"`;
}

/** A title from outside, whole, as a value of an attribute: each mark that could end it is `mark`. */
export function withoutEnding(title: string, mark: string): string {
  return title.replace(ENDING, mark);
}

/** A value of an attribute, which no mark in it can end. */
export function attribute(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,:/@+_-]/gu, "?").slice(0, 80);
}
