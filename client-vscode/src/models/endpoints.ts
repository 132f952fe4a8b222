/** Where a model is asked. An empty `baseUrl` is the provider's own endpoint. */
export interface Endpoint {
  provider: string;
  baseUrl: string;
}

/** The variable that holds the key of an endpoint: each endpoint has its own, so that no key reaches another one. */
export function keyVariable({ provider, baseUrl }: Endpoint): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  const name = host === "" ? provider : host;
  return `COPPICE_${name.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_API_KEY`;
}

export interface KeyChoice {
  before: Endpoint;
  after: Endpoint;
  /** `apiKeyEnv` of the settings before. */
  variable: string | undefined;
  /** The variables that a key is stored for. */
  stored: readonly string[];
  /** A key was typed for `after`. */
  isEntered: boolean;
}

/**
 * `apiKeyEnv` for the endpoint `after`: that of a key that was set for it, or undefined. The variable of another endpoint
 * is never taken over.
 */
export function variableAfter({ before, after, variable, stored, isEntered }: KeyChoice): string | undefined {
  const own = keyVariable(after);
  if (isEntered || stored.includes(own)) return own;
  return before.provider === after.provider && sameAddress(before.baseUrl, after.baseUrl) ? variable : undefined;
}

function sameAddress(one: string, other: string): boolean {
  const plain = (address: string): string => (URL.canParse(address) ? new URL(address).href.replace(/\/$/, "") : address.trim());
  return plain(one) === plain(other);
}
