import { createHash } from "node:crypto";

import { PROVIDERS } from "../protocol.gen";

/** Where a model is asked. An empty `baseUrl` is the provider's own endpoint. */
export interface Endpoint {
  provider: string;
  baseUrl: string;
}

/** Hexadecimal digits of an origin's digest: 64 bits, so that nobody can register a host with the digest of another. */
const DIGITS = 16;

/** The scheme, host and port to which a key is sent; undefined where there is no address. */
export function originOf({ provider, baseUrl }: Endpoint): string | undefined {
  const address = baseUrl.trim() || (Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as keyof typeof PROVIDERS].address : "");
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/** The variable that holds the key of an endpoint: each origin has its own, by a digest, so that no key reaches another one. */
export function keyVariable(endpoint: Endpoint): string {
  const origin = originOf(endpoint) ?? "";
  const host = origin.replace(/^\w+:\/\//, "").toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return `COPPICE_${host}_${createHash("sha256").update(origin).digest("hex").slice(0, DIGITS).toUpperCase()}_API_KEY`;
}

/** Settings that name a variable for an endpoint. */
export interface NamedKey {
  endpoint: Endpoint;
  variable: string;
}

export interface KeyChoice {
  after: Endpoint;
  named: readonly NamedKey[];
  /** The variables that a key is stored for. */
  stored: readonly string[];
  /** A key was typed for `after`. */
  isEntered: boolean;
}

/**
 * `apiKeyEnv` for the endpoint `after`: that of a key that was set for its origin, or undefined. Any other variable, as a
 * name without a digest, is of this origin where the settings name it for this one and for no other.
 */
export function variableAfter({ after, named, stored, isEntered }: KeyChoice): string | undefined {
  const own = keyVariable(after);
  if (isEntered || stored.includes(own)) return own;
  return named.find(({ endpoint, variable }) => originOf(endpoint) === originOf(after) && isOf(variable, after, named))?.variable;
}

/** Whether a variable's key may be sent to an endpoint, for which the settings name it. */
export function isOf(variable: string, endpoint: Endpoint, named: readonly NamedKey[]): boolean {
  if (variable === keyVariable(endpoint)) return true;
  const origin = originOf(endpoint);
  const isOfAnother = new RegExp(`^COPPICE_\\w+_[0-9A-F]{${DIGITS}}_API_KEY$`).test(variable);
  return origin !== undefined && !isOfAnother && named.every((each) => each.variable !== variable || originOf(each.endpoint) === origin);
}
