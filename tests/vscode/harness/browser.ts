// The browser of all scenes. Prints its address as soon as one can connect to it, and ends with standard input.
//
// It outlives the scenes, because a webview of VS Code waits for a check for updates of its service worker, which Chromium
// makes some ten seconds after its own start at the earliest.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const SWITCHES = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const server = await chromium.launchServer({
  executablePath: ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync) ?? "chromium",
  headless: true,
  args: SWITCHES,
});
console.log(server.wsEndpoint());
process.stdin.resume().on("end", () => void server.close());
