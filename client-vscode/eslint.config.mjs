import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "src/protocol.gen.ts"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: "error",
      // A value is named by what it is, not by how it came about (docs/DEVELOPERS.md, Names).
      "id-denylist": ["error", "found", "kept", "known"],
      "no-restricted-syntax": ["error", {
        selector: "MemberExpression[property.name=/^show(Information|Warning|Error)Message$/]",
        message: "Notifications make links of Markdown: use src/notify.ts.",
      }],
      // A command's own arguments are named where it is added.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "max-lines": ["error", 400],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  { files: ["src/notify.ts"], rules: { "no-restricted-syntax": "off" } },
  {
    files: ["test/**/*.ts"],
    rules: {
      // node:test's `test` gives a promise that the runner itself waits for.
      "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["test", "describe", "it"] }] }],
    },
  },
);
