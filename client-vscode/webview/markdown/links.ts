/** Which links of a message are shown as links at all. The host decides once more when one is followed. */

const WEB = /^https?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** The link as it is handed to the host, or nothing when it is not one we follow: `javascript:`, `command:`, … */
export function followable(href: string): string | undefined {
  const trimmed = href.trim();
  if (trimmed === "" || trimmed.startsWith("#") || trimmed.startsWith("//")) return undefined;
  if (WEB.test(trimmed) || /^file:/i.test(trimmed)) return trimmed;
  return SCHEME.test(trimmed) ? undefined : trimmed;
}
