import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { namedServers } from "../src/mcp/definitions";

const labels = (folders: Parameters<typeof namedServers>[0]) => namedServers(folders).map((server) => server.label);

test("a window with one folder has one server", () => {
  assert.deepEqual(labels([{ name: "garden", local: true }]), ["Coppice"]);
});

test("of several folders each has its own server, and one that is not in the file system has none", () => {
  const folders = [{ name: "garden", local: true }, { name: "remote", local: false }, { name: "meadow", local: true }];
  assert.deepEqual(labels(folders), ["Coppice (garden)", "Coppice (meadow)"]);
  assert.deepEqual(labels([{ name: "remote", local: false }, { name: "garden", local: true }]), ["Coppice"]);
  assert.deepEqual(labels([]), []);
});

test("the provider that is registered is one of the manifest", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { mcpServerDefinitionProviders: { id: string }[] } };
  const source = readFileSync("src/mcp/provider.ts", "utf8");
  assert.deepEqual(manifest.contributes.mcpServerDefinitionProviders.map(({ id }) => id), [/PROVIDER = "(.+)"/.exec(source)?.[1]]);
});
