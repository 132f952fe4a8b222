import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { explicitSettings, type Inspected, serverSettings } from "../src/settings/explicit";

interface Property {
  default: unknown;
  scope: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: { configuration: { properties: Record<string, Property> } };
};
const { properties } = manifest.contributes.configuration;
const contributed = serverSettings(properties);

/** The rows of the settings document that an editor may set. */
const rows = [...readFileSync("../docs/settings.md", "utf8").matchAll(/^\| `([\w.]+)` \| (?:`(.+?)`|none) \| ([\w, ]+) \|/gm)]
  .map(([, name = "", value, who = ""]) => ({ name, value: value === undefined ? null : (JSON.parse(value) as unknown), who: who.split(", ") }))
  .filter(({ who }) => who.includes("editor"));

function explicit(values: Record<string, Inspected>): Record<string, unknown> {
  return explicitSettings(contributed, (name) => values[name]);
}

test("each setting that an editor may set is contributed, with the server's default", () => {
  const shown = contributed.map(({ name }) => [name, properties[`coppice.${name}`]?.default]);
  assert.deepEqual(Object.fromEntries(shown), Object.fromEntries(rows.map(({ name, value }) => [name, value])));
});

test("what a workspace's file may not set, a workspace's settings may not either", () => {
  const personal = contributed.filter(({ isPersonal }) => isPersonal).map(({ name }) => name).sort();
  assert.deepEqual(personal, rows.filter(({ who }) => !who.includes("workspace")).map(({ name }) => name).sort());
});

test("every personal setting is restricted in an untrusted workspace", () => {
  const machine = Object.keys(properties).filter((key) => properties[key]?.scope === "machine");
  assert.deepEqual(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations, machine);
});

test("nothing is sent that nobody has set", () => {
  assert.deepEqual(explicit({ "compaction.enabled": {}, "model.name": { globalValue: null } }), {});
});

test("values are nested as the server reads them, the nearest wins", () => {
  const values = {
    "compaction.keepRecentTokens": { globalValue: 1, workspaceValue: 2 },
    "compaction.enabled": { globalValue: false },
    "files.ignore": { workspaceFolderValue: ["out"], workspaceValue: [] },
  };
  assert.deepEqual(explicit(values), {
    compaction: { enabled: false, keepRecentTokens: 2 },
    files: { ignore: ["out"] },
  });
});

test("a checkout cannot name an endpoint", () => {
  const values = { "model.baseUrl": { globalValue: "https://mine.example/v1", workspaceValue: "https://theirs.example/v1" } };
  assert.deepEqual(explicit(values), { model: { baseUrl: "https://mine.example/v1" } });
  assert.deepEqual(explicit({ "model.provider": { workspaceValue: "openai" } }), {});
});
