/** The states of the panel, each as the messages and the actions that lead to it. */
import { fileChangeOf } from "../../src/agent/change";
import type { ToPage } from "../../src/chat/messages";
import type { PanelPage } from "./panel";
import { assistant, BREAKDOWN, call, COMMAND, CONVERSATION, EDIT, entry, PLAN, shown, TALK, USAGE, user } from "./samples";

interface State {
  /** Of the panel, in pixels. */
  height: number;
  /** Called while the server runs and nothing is shown. */
  prepare: (panel: PanelPage) => Promise<void>;
}

const EMPTY: ToPage = { type: "shown", conversation: null, entries: [], running: false };
const MODEL: ToPage = { type: "model", name: "anthropic/claude-sonnet-4" };
const NO_MODEL: ToPage = {
  type: "notice",
  level: "error",
  text: "No model is set.",
  action: { label: "Choose a Model", command: "coppice.setUpModel" },
};
const ASKED = TALK[1]?.id ?? "";

/** A reply that failed with what a provider answers. */
function failed(errorMessage: string): ToPage {
  return shown([user("Why is the export slow?"), entry({ role: "assistant", content: [], stopReason: "error", errorMessage })]);
}

export const STATES: Readonly<Record<string, State>> = {
  "no-model": { height: 420, prepare: (panel) => panel.post({ type: "model", problem: "No model is set." }, EMPTY) },
  "no-model-offer": { height: 420, prepare: (panel) => panel.post({ type: "model", problem: "No model is set." }, EMPTY, { type: "modelOffer", name: "Claude Sonnet" }, NO_MODEL) },
  empty: { height: 420, prepare: (panel) => panel.post(MODEL, EMPTY, { type: "openFile", path: "src/importer/lines.py" }) },
  conversation: { height: 1500, prepare: (panel) => panel.post(MODEL, shown(TALK)) },
  opened: {
    height: 1900,
    prepare: async (panel) => {
      await panel.post(
        MODEL,
        shown(TALK),
        { type: "compacted", entryId: "compaction-1", warnings: ["The model's summary had no goal; rules added it."], report: { dropped: { entries: 57, tokens: 118_830, byKind: BREAKDOWN }, files: [], unsupported: [{ kind: "path", text: "0x3fe1", statement: "In it.", shown: "" }] } },
        { type: "usage", conversationId: "c1", usage: { ...USAGE, tokens: 190_000, shouldCompact: true, breakdown: BREAKDOWN } },
      );
      await panel.page.getByTestId("compaction").getByRole("button").first().click();
      await panel.page.getByRole("button", { name: "Read: 2 files" }).click();
      await panel.page.getByRole("button", { name: /^Tool bash/ }).click();
      await panel.page.getByRole("button", { name: "Thinking" }).click();
      await panel.page.getByRole("button", { name: /^Context:/ }).click();
    },
  },
  approvals: {
    height: 1000,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 2), { running: true }), { type: "approvals", approvals: [EDIT, { ...COMMAND, covers: "this command in this folder", details: COMMAND.details.slice(1) }] }),
  },
  commandRuns: {
    height: 640,
    prepare: async (panel) => {
      const asked = [user("Start it, then run the tests."), assistant("I run the tests.", call("r1", "run_command", { command: "npm test" }))];
      const listed = { conversationId: "c1", isLeft: false, id: "run-1", toolCallId: "r1", command: "npm test", tail: "> shop@1.0.0 test\n> node --test\n\n✔ a price is kept in cents (2.1 ms)\n✔ an empty file has no lines (0.4 ms)\n" };
      await panel.post(MODEL, shown(asked, { running: true }), { type: "commands", commands: [listed, { ...listed, id: "run-2", toolCallId: "r0", command: "npm start -- --port 8080", isLeft: true, tail: "Listening on port 8080\n" }] });
      await panel.page.getByRole("button", { name: /npm start/ }).click();
    },
  },
  plan: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 2), { running: true }), { type: "modes", modes: { c1: "plan" } }, { type: "approvals", approvals: [PLAN] }),
  },
  filesOffer: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(0, 3)), { type: "filesOffer", conversationId: "c1", offer: { id: "offer-1", kind: "branch", more: 3, files: [
      { path: ".vscode/tasks.json", fate: "written", added: 9, isControl: true },
      { path: "src/importer/lines.py", fate: "written", added: 12, removed: 4, isControl: false },
      { path: "tests/test_lines.py", fate: "deleted", removed: 40, isControl: false },
      { path: "README.md", fate: "merged", added: 1, removed: 1, isControl: false },
      { path: "docs/format.md", fate: "conflict", added: 2, removed: 2, isControl: false },
    ] } }),
  },
  unfinishedChange: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(0, 3)), { type: "filesOffer", conversationId: "c1", offer: { id: "offer-2", kind: "unfinished", more: 0, files: [] } }),
  },
  unansweredOffer: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(0, 3)), { type: "filesOffer", conversationId: "c1", offer: { id: "offer-3", kind: "unanswered", more: 0, files: [] } }, { type: "draft", conversationId: "c1", text: "Keep the last line, and say so in the changelog." }),
  },
  marks: {
    height: 1000,
    prepare: async (panel) => {
      await panel.post(MODEL, shown(TALK.slice(0, 3), {
        outline: {
          leafId: null,
          length: 40,
          compactions: [{ entryId: "older", depth: 8 }, { entryId: "compaction-1", depth: 30, firstKeptEntryId: ASKED }],
          marks: [{ entryId: ASKED, label: "before the rewrite", pinned: true }],
          forks: [{ entryId: ASKED, alternatives: ["x", ASKED, "y"] }],
        },
      }));
      await panel.page.getByTestId("compaction").getByRole("button").first().click();
      await panel.page.getByTestId("user").first().getByRole("button", { name: "More Actions" }).press("Enter");
    },
  },
  running: {
    height: 640,
    prepare: (panel) => panel.post(
      MODEL,
      shown(TALK.slice(1, 2), { running: true, work: { title: "Compacting", stage: "Summarizing", percentage: 40, cancellable: true } }),
      { type: "update", conversationId: "c1", update: { kind: "thinking", text: "Hm." } },
      { type: "update", conversationId: "c1", update: { kind: "text", text: "The reader yields on newlines only, so a last line **without** one is" } },
      { type: "notice", level: "warning", text: "The window is nearly full, and nothing can be compacted." },
    ),
  },
  providerWaits: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 2), { running: true }), { type: "update", conversationId: "c1", update: { kind: "wait", attempt: 2, seconds: 90, message: "The provider limits how often it is asked." } }),
  },
  restricted: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 2)), { type: "preferences", enterSends: true, restricted: true }),
  },
  background: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 3), { background: "ready" })),
  },
  waiting: {
    height: 640,
    prepare: async (panel) => {
      await panel.post(
        MODEL,
        shown(TALK.slice(1, 2), { running: true, elsewhere: true }),
        { type: "queue", conversationId: "c1", messages: [{ id: "q1", text: "And the tests of the exporter, please?", attached: 1 }] },
        { type: "attachments", conversationId: "c1", attachments: [{ kind: "file", path: "src/importer/lines.py" }, { kind: "lines", path: "src/importer/lines.py", start: 12, end: 20, name: "lines" }] },
        { type: "openFile", path: "tests/test_lines.py" },
      );
      await panel.page.getByRole("textbox", { name: "Message" }).fill("Then write the changelog.");
    },
  },
  mention: {
    height: 500,
    prepare: async (panel) => {
      await panel.post(MODEL, shown(TALK.slice(1, 2)));
      await panel.page.getByRole("textbox", { name: "Message" }).pressSequentially("Compare @li");
      await panel.page.waitForFunction(() => (globalThis as unknown as { posted: { query?: string }[] }).posted.some(({ query }) => query === "li"));
      const request = (await panel.asked()).flatMap((message) => (message.type === "complete" ? [message.request] : [])).at(-1) ?? 0;
      await panel.post({ type: "completions", request, items: [
        { icon: "file", label: "src/importer/lines.py", detail: "file", attachment: { kind: "file", path: "src/importer/lines.py" } },
        { icon: "symbol-method", label: "lines", detail: "src/importer/lines.py", attachment: { kind: "lines", path: "src/importer/lines.py", start: 1, end: 5, name: "lines" } },
      ] });
      await panel.page.getByTestId("suggestions").waitFor();
    },
  },
  commands: {
    height: 500,
    prepare: async (panel) => {
      await panel.post(MODEL, shown(TALK.slice(1, 2)));
      await panel.page.getByRole("textbox", { name: "Message" }).pressSequentially("/");
      await panel.page.getByTestId("suggestions").waitFor();
    },
  },
  editing: {
    height: 500,
    prepare: async (panel) => {
      await panel.post(MODEL, shown(TALK.slice(1, 3)));
      await panel.page.getByTestId("user").getByRole("button", { name: "Edit and Resend" }).press("Enter");
      await panel.page.getByRole("textbox", { name: "Edited message" }).waitFor();
    },
  },
  change: {
    height: 760,
    prepare: async (panel) => {
      const edited = (toolCallId: string, before: string, after: string) => entry({
        role: "toolResult", toolCallId, toolName: "edit_file", isError: false,
        content: [{ type: "text", text: "Edited src/importer/lines.py." }],
        details: { change: fileChangeOf("src/importer/lines.py", before, after) },
      });
      await panel.post(
        MODEL,
        shown([
          user("Keep the last line."),
          assistant("I'll read the rest of the buffer.", call("w1", "edit_file", { path: "src/importer/lines.py" }), call("w2", "edit_file", { path: "src/importer/lines.py" })),
          edited("w1", "def lines(chunks):\n    return chunks\n", "def lines(chunks):\n    yield from chunks\n"),
          edited("w2", "import io\n", "import io\nimport itertools\n"),
          assistant("The last line is kept."),
        ]),
        { type: "edits", verdicts: { w2: "kept" } },
      );
    },
  },
  prices: {
    height: 640,
    prepare: async (panel) => {
      const spent = { requests: 2, input: 40_200, output: 1310, cacheRead: 38_800, cacheWrite: 0, milliseconds: 9000, firstTokenMilliseconds: 900 };
      const sums = { turn: spent, conversation: { ...spent, input: 900_000 }, compactions: spent, whole: { ...spent, input: 1_200_000 }, unused: spent };
      await panel.post(MODEL, shown([user("Keep the last line."), assistant("The last line is kept.")], { usage: { ...USAGE, breakdown: BREAKDOWN, spent: { ...sums, models: [{ model: "usual", ...sums }] } } }), { type: "preferences", enterSends: true, prices: { input: 3, cachedInput: 0.3, output: 15, currency: "$" } });
      await panel.page.getByRole("button", { name: /^Context:/ }).click();
    },
  },
  turnFiles: {
    height: 640,
    prepare: (panel) => panel.post(MODEL, shown([TALK[1] ?? user("Keep the last line."), assistant("The last line is kept.")]), { type: "turnFiles", conversationId: "c1", turn: { entryId: ASKED, more: 2, files: [
      { path: "src/importer/formats/comma_separated/lines.py", added: 12, removed: 4 },
      { path: "tests/test_lines.py", added: 40 },
      { path: "docs/format.png" },
    ] } }),
  },
  failed: {
    height: 420,
    prepare: (panel) => panel.post(MODEL, failed("The provider refuses the API key: invalid x-api-key."), { type: "turnFailed", conversationId: "c1", kind: "auth" }),
  },
  "rate-limited": { height: 420, prepare: (panel) => panel.post(MODEL, failed("The provider limits how often it is asked. Try again in 40 seconds."), { type: "turnFailed", conversationId: "c1" }) },
  "calls-that-end": {
    height: 420,
    prepare: (panel) => panel.post(MODEL, shown([
      user("Clean up."),
      assistant(call("d0", "run_command", { command: "head -n 40 src/importer/formats/comma_separated/lines.py" })),
      entry({ role: "toolResult", toolCallId: "d0", toolName: "run_command", isError: false, content: [{ type: "text", text: "[No output]\n[Exit code 0]" }], details: { exitCode: 0, ending: "exited", readOnly: true } }),
      assistant(call("d1", "run_command", { command: "rm -rf build" }), call("d2", "read_file", { path: "src/importer/formats/comma_separated/lines.py" })),
      entry({ role: "toolResult", toolCallId: "d1", toolName: "run_command", isError: true, content: [{ type: "text", text: "The user did not allow this." }], details: { denied: true } }),
      entry({ role: "toolResult", toolCallId: "d2", toolName: "read_file", isError: true, content: [{ type: "text", text: "There is no such file." }] }),
    ])),
  },
  revealed: {
    height: 700,
    prepare: async (panel) => {
      await panel.post(MODEL, shown(TALK), { type: "reveal", conversationId: "c1", entryId: ASKED });
      await panel.page.locator(".found").waitFor();
    },
  },
  preview: {
    height: 600,
    prepare: (panel) => panel.post(MODEL, shown(TALK.slice(1, 3), {
      preview: { leafId: "l" },
      outline: { leafId: "l", length: 3, compactions: [], marks: [], forks: [{ entryId: ASKED, alternatives: ["x", ASKED, "y"] }] },
    })),
  },
  conversations: {
    height: 500,
    prepare: async (panel) => {
      const others = ["Retry the upload", "settings from INI to TOML: plan, migration, and the tests of both", "Why is the export slow?"];
      await panel.post(MODEL, shown(TALK.slice(1, 3)), {
        type: "conversations",
        conversations: [CONVERSATION, ...others.map((name, at) => ({ ...CONVERSATION, id: `o${at}`, name }))],
      }, { type: "approvals", approvals: [{ ...COMMAND, conversationId: "o0" }] }, { type: "running", conversationIds: ["o0", "o1"] });
      await panel.page.getByTestId("conversation-picker").click();
    },
  },
};

export const SERVERS: Readonly<Record<string, Extract<ToPage, { type: "server" }>>> = {
  absent: { type: "server", state: "absent", canInstall: true },
  "not-installed": { type: "server", state: "absent", canInstall: true, message: "The server could not be installed. ERROR: No matching distribution found for pygls>=2" },
  "not-found": { type: "server", state: "absent", canInstall: false, message: "The setting coppice.server.path names no program: /opt/coppice. Give the full path of a coppice program, or leave it empty." },
  installing: { type: "server", state: "installing", message: "Installing pydantic" },
  starting: { type: "server", state: "starting" },
  failed: { type: "server", state: "failed", message: "The server ended several times in a row." },
  stopped: { type: "server", state: "stopped" },
};
