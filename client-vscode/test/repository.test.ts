import assert from "node:assert/strict";
import { test } from "node:test";

import { repositoryOf } from "../scripts/repository.mjs";

test("a package names the remote of its checkout, however that is written, and nobody's token", () => {
  for (const address of [
    "https://github.com/someone/coppice.git",
    "https://someone:token@github.com/someone/coppice",
    "git@github.com:someone/coppice.git",
    "ssh://git@github.com/someone/coppice.git",
  ]) {
    const repository = repositoryOf(address);
    assert.equal(repository?.manifest.repository.url, "https://github.com/someone/coppice.git");
    assert.equal(repository.manifest.bugs.url, "https://github.com/someone/coppice/issues");
    assert.equal(repository.links?.baseImagesUrl, "https://github.com/someone/coppice/raw/HEAD/client-vscode");
  }
});

test("pictures are linked only where the host's addresses are known", () => {
  const repository = repositoryOf("https://code.example.org/someone/coppice.git");
  assert.equal(repository?.manifest.repository.url, "https://code.example.org/someone/coppice.git");
  assert.equal(repository.links, undefined);
});

test("what is not on the web is no repository", () => {
  for (const address of ["", "/srv/coppice.git", "../coppice", "file:///srv/coppice", "http://localhost:3000/coppice", "http://10.0.0.1/coppice", "git@host:coppice"]) {
    assert.equal(repositoryOf(address), undefined, address);
  }
});
