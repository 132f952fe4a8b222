import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { KeyRefusedError, listModels, testModel } from "../src/models/endpoint";

const KEY = "sk-very-secret";

async function served(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: { url: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", key: request.headers.authorization ?? ((request.headers["x-api-key"] ?? request.headers["x-goog-api-key"]) as string | undefined) });
    answer(request, response);
  });
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => { server.closeAllConnections(); await new Promise((resolve) => { server.close(resolve); }); } };
}

const json = (value: unknown, status = 200) => (_: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

test("the models of an endpoint are listed with the windows that it reports", async () => {
  await using server = await served(json({ data: [{ id: "b", max_model_len: 4096 }, { id: "a", meta: { n_ctx_train: 8192 } }, { id: "c", context_length: -1 }, { id: 7 }, null] }));
  const models = await listModels({ provider: "openai", baseUrl: `${server.url}/v1/`, key: KEY });
  assert.deepEqual(models, [{ id: "a", contextWindow: 8192 }, { id: "b", contextWindow: 4096 }, { id: "c" }]);
  assert.deepEqual(server.asked, [{ url: "/v1/models", key: `Bearer ${KEY}` }]);
  await listModels({ provider: "anthropic", baseUrl: `${server.url}/v1`, key: KEY });
  assert.deepEqual(server.asked.at(-1), { url: "/v1/models?limit=1000", key: KEY });
});

test("no key travels over plain http to another machine, and the sentence says what to do", async (t) => {
  const asked: string[] = [];
  t.mock.method(globalThis, "fetch", (url: string) => { asked.push(url); return Promise.resolve(new Response('{"data": []}')); });
  for (const host of ["192.0.2.2:8080", "api.example.com", "127.0.0.1.example.com", "localhost.example.com", "[2001:db8::1]"]) {
    const endpoint = { provider: "openai", baseUrl: `http://${host}/v1`, key: KEY } as const;
    for (const ask of [listModels(endpoint), testModel(endpoint, "m")]) {
      await assert.rejects(ask, (error: Error) => error.message.includes(`${host} is plain http`) && error.message.includes("Use https") && !error.message.includes(KEY));
    }
  }
  assert.deepEqual(asked, []);
  for (const [host, key] of [["192.0.2.2", undefined], ["localhost:1", KEY], ["llm.localhost", KEY], ["127.1", KEY], ["[::1]:8080", KEY]] as const) {
    assert.deepEqual(await listModels({ provider: "openai", baseUrl: `http://${host}/v1`, key }), []);
  }
  await listModels({ provider: "openai", baseUrl: "https://api.example.com/v1", key: KEY });
  assert.equal(asked.length, 6);
});

test("each provider is asked in its own way", async () => {
  await using server = await served(json({ models: [{ name: "models/g", inputTokenLimit: 32_000 }] }));
  const gemini = { provider: "gemini", baseUrl: server.url, key: KEY } as const;
  assert.deepEqual(await listModels(gemini), [{ id: "g", contextWindow: 32_000 }]);
  await testModel(gemini, "g");
  await testModel({ ...gemini, provider: "openai-responses", baseUrl: `${server.url}/v1` }, "o");
  assert.deepEqual(server.asked, [
    { url: "/v1beta/models?pageSize=1000", key: KEY },
    { url: "/v1beta/models/g:generateContent", key: KEY },
    { url: "/v1/responses", key: `Bearer ${KEY}` },
  ]);
});

test("an answer without an end is left, with a sentence", async () => {
  const block = Buffer.alloc(1_000_000, "[");
  for (const status of [200, 500]) {
    await using server = await served((_, response) => {
      response.writeHead(status);
      const more = (): void => { while (!response.destroyed && response.write(block)); };
      response.on("drain", more);
      more();
    });
    await assert.rejects(listModels({ provider: "openai", baseUrl: server.url, key: KEY }), status === 200 ? /answer is longer than 10,000,000 bytes/ : /The endpoint answers 500/);
  }
});

test("an answer that is no JSON, or ends early, lists no models", async () => {
  await using server = await served((_, response) => { response.writeHead(200).end("<html>"); });
  await assert.rejects(listModels({ provider: "openai", baseUrl: server.url, key: KEY }), /lists no models/);
  await using other = await served((_, response) => { response.writeHead(200, { "content-length": "100" }).write("{"); setImmediate(() => response.destroy()); });
  await assert.rejects(listModels({ provider: "openai", baseUrl: other.url, key: KEY }), /cannot be reached/);
});

test("a redirect is not followed: the key stays with the endpoint that it was given for", async () => {
  await using other = await served(json({ data: [] }));
  await using server = await served((_, response) => { response.writeHead(307, { location: `${other.url}/v1/models` }).end(); });
  await assert.rejects(listModels({ provider: "openai", baseUrl: server.url, key: KEY }));
  await assert.rejects(testModel({ provider: "openai", baseUrl: server.url, key: KEY }, "a"));
  assert.deepEqual(other.asked, []);
});

test("a refusal is a sentence without the key", async () => {
  await using server = await served(json({ error: { message: `Wrong key ${KEY}` } }, 401));
  await assert.rejects(testModel({ provider: "openai", baseUrl: server.url, key: KEY }, "a"), (error: Error) => {
    assert.match(error.message, /refuses the API key/);
    assert.ok(!error.message.includes(KEY));
    return true;
  });
});

test("what is no list of models, and an endpoint that is not there, are sentences", async () => {
  await using server = await served(json({ models: [] }));
  await assert.rejects(listModels({ provider: "openai", baseUrl: server.url, key: undefined }), /lists no models/);
  await assert.rejects(listModels({ provider: "openai", baseUrl: "http://127.0.0.1:9", key: undefined }), /cannot be reached/);
});

test("a key that is refused is distinguished from what the key does not allow", async () => {
  await using refusing = await served(json({ error: { message: "Wrong." } }, 401));
  await using forbidding = await served(json({ error: { message: "No models for you." } }, 403));
  await assert.rejects(listModels({ provider: "openai", baseUrl: refusing.url, key: undefined }), (error) => error instanceof KeyRefusedError && error.message === "The endpoint needs an API key. Wrong.");
  await assert.rejects(listModels({ provider: "openai", baseUrl: forbidding.url, key: KEY }), (error) => !(error instanceof KeyRefusedError) && String(error).includes('No models for you'));
});
