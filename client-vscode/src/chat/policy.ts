/**
 * The page's content security policy. Nothing may be loaded but the extension's own bundles and pictures that
 * are spelled out in a message, and no script may turn text into HTML (`require-trusted-types-for`): what
 * strangers wrote cannot become markup even by a mistake of ours.
 */
export function policy(source: string, nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}
