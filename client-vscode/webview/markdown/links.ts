/** Which links of a message are shown as links at all. The host decides once more when one is followed. */

const WEB = /^https?:\/\//i;
/** What ends in a line's number is a file's place: `lines.py:12`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d+(?:[-:,]\d+)*$)/i;
/** A path of Windows, also with the backslash as Markdown writes it into an address. The host follows it on Windows alone. */
const DRIVE = /^[a-z]:(?:[\\/]|%5c)/i;
/** A file's place: a path, relative or on a drive, with an ending, a line, perhaps a column or a last line. */
const PLACE = String.raw`(?:[A-Za-z]:[\\/])?(?:[\w.@-]+[\\/])*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}:\d{1,7}(?:[-:]\d{1,7})?`;
const WHOLE_PLACE = new RegExp(`^${PLACE}$`);
/** In prose one with a folder: without it, `example.org:443` is a host. */
const PLACES = new RegExp(String.raw`(?<![\w./\\:@~-])((?=(?:[A-Za-z]:|[\w.@-]+)[\\/])${PLACE})(?![\w/\\])`);

/** The link as it is handed to the host, or nothing when it is not one we follow: `javascript:`, `command:`, … */
export function followable(href: string): string | undefined {
  const trimmed = href.trim();
  if (trimmed === "" || trimmed.startsWith("#") || trimmed.startsWith("//")) return undefined;
  if (WEB.test(trimmed) || /^file:/i.test(trimmed) || DRIVE.test(trimmed)) return trimmed;
  return SCHEME.test(trimmed) ? undefined : trimmed;
}

/** Whether a piece of code is a file's place, `src/lines.py:12`, and nothing else. */
export function isPlace(code: string): boolean {
  return WHOLE_PLACE.test(code);
}

/** The text, cut before and after each file's place: every second piece is one. */
export function atPlaces(text: string): string[] {
  return text.split(PLACES);
}
