/** What an endpoint reports about itself: its models, and whether it answers. */

import { PROVIDERS } from "../protocol.gen";

export interface Endpoint {
  provider: keyof typeof PROVIDERS;
  /** Empty: the provider's own. */
  baseUrl: string;
  key: string | undefined;
}

export interface OfferedModel {
  id: string;
  /** In tokens, where the endpoint reports it. */
  contextWindow?: number;
}

/** How one provider is asked: below which path, with which headers. `ask` is a short question to a model. */
interface Protocol {
  version: string;
  models: string;
  /** The property of the listing that holds the models. */
  listed: "data" | "models";
  headers: (key: string | undefined) => Record<string, string>;
  ask: (model: string) => { path: string; body: unknown };
}

const bearer = (key: string | undefined): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` });
const QUESTION = "Say OK.";
const MESSAGES = [{ role: "user", content: QUESTION }];
const LEAST_TOKENS = 16; // of the Responses API; too few to answer is an answer, too

const PROTOCOLS: Record<keyof typeof PROVIDERS, Protocol> = {
  openai: {
    version: "",
    models: "/models",
    listed: "data",
    headers: bearer,
    ask: (model) => ({ path: "/chat/completions", body: { model, messages: MESSAGES, stream: true } }),
  },
  "openai-responses": {
    version: "",
    models: "/models",
    listed: "data",
    headers: bearer,
    ask: (model) => ({ path: "/responses", body: { model, input: QUESTION, max_output_tokens: LEAST_TOKENS, store: false } }),
  },
  gemini: {
    version: "/v1beta",
    models: "/models?pageSize=1000",
    listed: "models",
    headers: (key) => (key === undefined ? {} : { "x-goog-api-key": key }),
    ask: (model) => ({
      path: `/models/${model}:generateContent`,
      body: { contents: [{ role: "user", parts: [{ text: QUESTION }] }], generationConfig: { maxOutputTokens: LEAST_TOKENS } },
    }),
  },
  anthropic: {
    version: "/v1",
    models: "/models?limit=1000",
    listed: "data",
    headers: (key) => ({ "anthropic-version": "2023-06-01", ...(key === undefined ? {} : { "x-api-key": key }) }),
    ask: (model) => ({ path: "/messages", body: { model, messages: MESSAGES, max_tokens: LEAST_TOKENS } }),
  },
};

/** The endpoint answers 401. */
export class KeyRefusedError extends Error {}

/** Milliseconds. A guess: a model on this machine may have to be loaded first. */
const TIMEOUT_MS = 30_000;
const MOST_MODELS = 2000;
/** Bytes of an answer. OpenRouter lists its models, with their descriptions, in less than one million. */
const LONGEST_ANSWER = 10_000_000;
const LONGEST_COMPLAINT = 300;
/** The names under which servers report a model's window: OpenRouter and LM Studio, vLLM, Anthropic, llama.cpp, Gemini. */
const WINDOW_NAMES = ["context_length", "max_context_length", "max_model_len", "max_input_tokens", "context_window", "n_ctx_train", "inputTokenLimit"];

/** The models that can be asked, by name. Throws a sentence where the endpoint does not list any. */
export async function listModels(endpoint: Endpoint): Promise<OfferedModel[]> {
  const answer = valueIn(await bodyOf(await asked(endpoint, PROTOCOLS[endpoint.provider].models)));
  const data = typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>)[PROTOCOLS[endpoint.provider].listed] : undefined;
  if (!Array.isArray(data)) throw new Error("The endpoint lists no models.");
  return data.slice(0, MOST_MODELS).flatMap(modelOf).sort((one, other) => one.id.localeCompare(other.id));
}

/** Throws a sentence where the model does not answer a short question. */
export async function testModel(endpoint: Endpoint, model: string): Promise<void> {
  const { path, body } = PROTOCOLS[endpoint.provider].ask(model);
  const response = await asked(endpoint, path, body);
  await response.body?.cancel();
}

async function asked({ provider, baseUrl, key }: Endpoint, path: string, body?: unknown): Promise<Response> {
  const { version, headers } = PROTOCOLS[provider];
  const address = (baseUrl || PROVIDERS[provider].address).replace(/\/+$/, "");
  refuseInTheClear(address, key);
  const base = /\/v\d+(beta\d*)?$/.test(address) ? address : address + version;
  const response = await fetch(base + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...headers(key), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // Whoever an endpoint points to is not the one that the key was given for.
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => { throw new Error(reason(error)); });
  if (response.ok) return response;
  const complaint = complaintOf(await bodyOf(response).catch(() => ""));
  const quoted = key === undefined ? complaint : complaint.replaceAll(key, "…");
  if (response.status === 401) throw new KeyRefusedError(`${key === undefined ? "The endpoint needs an API key." : "The endpoint refuses the API key."} ${quoted}`.trim());
  throw new Error(`${response.status === 403 ? "The endpoint does not allow this with the API key." : `The endpoint answers ${response.status}.`} ${quoted}`.trim());
}

/** Throws where a key would travel unencrypted to another machine, as the server does. */
function refuseInTheClear(address: string, key: string | undefined): void {
  if (key === undefined || !URL.canParse(address)) return;
  const { protocol, hostname, origin } = new URL(address);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  throw new Error(`The API key was not sent: ${origin} is plain http, so anyone on the way could read it. Use https, or leave the key empty and take apiKeyEnv out of the settings if the server needs no key.`);
}

/** Whether a host is this machine; `localhost` and the names below it never leave it: RFC 6761, 6.3. `URL` has each IPv4 address as four numbers. */
function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d+){3}$/.test(name);
}

/** The text of an answer. Throws a sentence where it is too long or ends early. */
async function bodyOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let length = 0;
  try {
    // Leaving the loop ends the connection.
    for await (const bytes of (body as AsyncIterable<Uint8Array> | null) ?? []) {
      length += bytes.byteLength;
      if (length > LONGEST_ANSWER) break;
      texts.push(decoder.decode(bytes, { stream: true }));
    }
  } catch (error) {
    throw new Error(reason(error));
  }
  if (length > LONGEST_ANSWER) throw new Error(`The endpoint's answer is longer than ${LONGEST_ANSWER.toLocaleString("en")} bytes.`);
  return texts.join("") + decoder.decode();
}

function modelOf(value: unknown): OfferedModel[] {
  if (typeof value !== "object" || value === null) return [];
  const fields = value as Record<string, unknown>;
  const name = fields["name"];
  const id = fields["id"] ?? (typeof name === "string" ? name.replace(/^models\//, "") : undefined);
  if (typeof id !== "string" || id === "") return [];
  const meta = typeof fields["meta"] === "object" && fields["meta"] !== null ? (fields["meta"] as Record<string, unknown>) : {};
  const contextWindow = WINDOW_NAMES.map((name) => fields[name] ?? meta[name]).find((size) => typeof size === "number" && Number.isInteger(size) && size > 0);
  return [typeof contextWindow === "number" ? { id, contextWindow } : { id }];
}

/** What is not JSON is for browsers: undefined. */
function valueIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function complaintOf(body: string): string {
  const error = (valueIn(body) as { error?: { message?: unknown } | null } | null | undefined)?.error;
  return typeof error?.message === "string" ? error.message.slice(0, LONGEST_COMPLAINT) : "";
}

function reason(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return "The endpoint does not answer.";
  if (cause?.message === "unexpected redirect") return "The endpoint redirects elsewhere; give the address that it redirects to.";
  return `The endpoint cannot be reached${cause?.code === undefined ? "" : ` (${cause.code})`}.`;
}
