// Bundles the extension's two halves: the host, which runs in Node, and the page of the Chat view.
import { context } from "esbuild";

const watching = process.argv.includes("--watch");
const common = { bundle: true, sourcemap: true, minify: !watching, logLevel: "info", target: "es2023" };

const host = {
  ...common,
  entryPoints: { extension: "src/extension.ts" },
  outdir: "dist",
  platform: "node",
  format: "cjs",
  external: ["vscode"],
};
const page = {
  ...common,
  entryPoints: { webview: "webview/main.tsx" },
  outdir: "dist",
  platform: "browser",
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".ttf": "file" },
  assetNames: "[name]",
};

const builds = await Promise.all([context(host), context(page)]);
if (watching) {
  await Promise.all(builds.map((build) => build.watch()));
} else {
  await Promise.all(builds.map((build) => build.rebuild()));
  await Promise.all(builds.map((build) => build.dispose()));
}
