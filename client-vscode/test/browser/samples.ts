/** Conversations that show what the panel can show. */
import type { PendingApproval } from "../../src/approvals/approval";
import { diffDetail } from "../../src/approvals/diff";
import type { ToPage } from "../../src/chat/messages";
import type { AssistantContent, Conversation, Entry, Message, UsageState } from "../../src/protocol.gen";

export const CONVERSATION: Conversation = {
  id: "c1",
  name: "Importer: keep the last line",
  workspaceUri: "file:///orchard",
  createdAt: "2026-03-02T09:14:00.000Z",
  modifiedAt: "2026-03-02T09:41:00.000Z",
  leafId: "e9",
  entryCount: 9,
};

export const USAGE: UsageState = {
  tokens: 23_480,
  contextWindow: 200_000,
  reserveTokens: 16_384,
  thresholdTokens: 183_616,
  shouldCompact: false,
  source: "tokenizer",
};

export const BREAKDOWN = {
  user: 1210,
  assistant: 6022,
  thinking: 640,
  toolCalls: 2904,
  toolResults: 11_180,
  images: 0,
  summary: 1524,
  pins: 0,
  system: 0,
  tools: 0,
  skills: 0,
};

let count = 0;
export function entry(message: Message): Entry {
  count += 1;
  return { id: `m${count}`, parentId: null, timestamp: "2026-03-02T09:14:00.000Z", type: "message", message };
}

export function user(content: string): Entry {
  return entry({ role: "user", content });
}

export function assistant(...content: (string | AssistantContent)[]): Entry {
  const blocks = content.map((part): AssistantContent => (typeof part === "string" ? { type: "text", text: part } : part));
  const usage = { input: 1200, output: 310, cacheRead: 8800 };
  return entry({ role: "assistant", content: blocks, stopReason: "stop", usage });
}

export function call(id: string, name: string, given: Record<string, unknown>): AssistantContent {
  return { type: "toolCall", id, name, arguments: given };
}

export function result(toolCallId: string, toolName: string, text: string, isError = false): Entry {
  return entry({ role: "toolResult", toolCallId, toolName, content: [{ type: "text", text }], isError });
}

const SUMMARY = `## Goal
Keep the last line of imported files.

## Constraints & Preferences
- Do not change the public function's name. [#26c4206e]

## Progress
### Done
- [x] \`src/importer/lines.py\` reads the rest of the buffer at the end of the file
### In Progress
- [ ] Windows line endings

## Key Decisions
- **Read to the end, then split**: the regular expression was too slow above 50 MB

## Next Steps
1. Run the tests on Windows line endings

<read-files>
tests/test_lines.py
</read-files>`;

export const COMPACTION: Entry = {
  id: "compaction-1",
  parentId: null,
  timestamp: "2026-03-02T09:31:00.000Z",
  type: "compaction",
  summary: SUMMARY,
  firstKeptEntryId: "m1",
  tokensBefore: 142_310,
  tokensAfter: 23_480,
  reason: "manual",
  details: {
    readFiles: ["tests/test_lines.py", "docs/formats.md"],
    modifiedFiles: ["src/importer/lines.py"],
    summarizer: "offline",
  },
};

export const BRANCH_SUMMARY: Entry = {
  id: "branch-1",
  parentId: null,
  timestamp: "2026-03-02T09:33:00.000Z",
  type: "branch_summary",
  summary: "Tried a regular expression over the whole file; too slow above 50 MB.",
  fromId: "m3",
  details: { readFiles: [], modifiedFiles: ["src/importer/pattern.py"] },
};

const ANSWER = `The reader yields on newlines only, so a last line **without** one is lost. Two changes:

1. \`lines()\` yields what is left in the buffer at the end.
2. The test covers an empty file, see [the reader](src/importer/lines.py#L12) and <https://docs.python.org/3/library/io.html>.

\`\`\`python
def lines(chunks):
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\\n")
        yield from whole
    if rest:
        yield rest  # the last line has no newline
\`\`\`

| case | before | after |
|---|--:|:-:|
| ends with a newline | 3 lines | 3 lines |
| does not | 2 lines | 3 lines |
`;

export const TALK: readonly Entry[] = [
  COMPACTION,
  user("The importer drops the last line of a file without a newline. Please fix it, and do not change the public function's name."),
  assistant(
    { type: "thinking", thinking: "The reader yields on newlines only. Look at the buffer." },
    "I will look at the reader and run its tests.",
    call("t1", "read", { path: "src/importer/lines.py" }),
    call("t2", "bash", { command: "pytest tests/test_lines.py -q" }),
  ),
  result("t1", "read", "def lines(chunks):\n    ..."),
  result("t2", "bash", "1 failed, 7 passed", true),
  assistant(ANSWER),
  BRANCH_SUMMARY,
  entry({ role: "bashExecution", command: "git diff --stat", output: " src/importer/lines.py | 3 ++-", exitCode: 0, cancelled: false, truncated: false }),
  { id: "custom-1", parentId: null, timestamp: "", type: "custom_message", customType: "todo", content: "Still open: Windows line endings.", display: true },
  { id: "change-1", parentId: null, timestamp: "", type: "model_change", provider: "anthropic", modelId: "b-model" },
  user("And Windows line endings?"),
  assistant("`split(b\"\\n\")` leaves the `\\r`. I will strip it where the file", call("t3", "edit", { path: "src/importer/lines.py", old: "yield rest", new: "yield rest.rstrip(b'\\r')" })),
];

export function shown(entries: readonly Entry[], more: Partial<Extract<ToPage, { type: "shown" }>> = {}): ToPage {
  return { type: "shown", conversation: CONVERSATION, entries: [...entries], usage: USAGE, running: false, ...more };
}

export const RUNNING: ToPage = { type: "server", state: "running" };

const BEFORE = `def lines(chunks):
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\\n")
        yield from whole
`;

export const EDIT: PendingApproval = {
  id: "approval-1", conversationId: "c1", toolCallId: "t9", tool: "edit_file", title: "Edit src/importer/lines.py", scope: "edit_file", interrupted: false,
  details: [diffDetail("src/importer/lines.py", BEFORE, BEFORE.replace("chunks):", "chunks: Iterable[bytes]):").concat("    if rest:\n        yield rest  # the last line has no newline\n"))],
};

export const COMMAND: PendingApproval = {
  id: "approval-2", conversationId: "c1", toolCallId: "t10", tool: "run_command", title: "Run a command", scope: "run_command", interrupted: false, proposal: "run_command `pytest tests …` in .", reaches: ["conversation", "workspace"],
  details: [
    { kind: "arguments", arguments: { explanation: "An explanation that is very long. ".repeat(200), env: { CI: "true" } } },
    { kind: "command", command: "pytest -q tests/test_lines.py \u202e&& rm -rf .\u001b[2K", directory: "/orchard" },
    { kind: "note", text: "The command can change files outside the workspace." },
  ],
};

export const PLAN: PendingApproval = {
  id: "approval-3", conversationId: "c1", toolCallId: "t11", tool: "present_plan", title: "Approve the plan", scope: null, interrupted: false,
  details: [{ kind: "plan", text: "# Keep the last line\n\n1. `lines()` yields what is left at the end, in `src/importer/lines.py`.\n2. A test with a file that has no last newline.\n\nChecked by `pytest tests/test_lines.py`." }],
};
