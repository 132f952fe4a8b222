// A chat model of VS Code: it passes on what it is asked to the tests' provider, which speaks OpenAI's protocol.
const vscode = require("vscode");

const MODEL = {
  id: "scripted",
  name: "Scripted",
  family: "scripted",
  version: "1",
  maxInputTokens: 20_000,
  maxOutputTokens: 4_000,
  capabilities: { toolCalling: true },
};

exports.offerModel = () => {
  const url = () => vscode.workspace.getConfiguration("coppiceTests").get("modelUrl");
  const changed = new vscode.EventEmitter();
  const provider = vscode.lm.registerLanguageModelChatProvider("coppice-tests", {
    onDidChangeLanguageModelChatInformation: changed.event,
    provideLanguageModelChatInformation: () => (url() ? [MODEL] : []),
    provideTokenCount: async (_model, text) => Math.ceil(JSON.stringify(text).length / 4),
    provideLanguageModelChatResponse: async (model, messages, { tools = [] }, progress, token) => {
      const aborting = new AbortController();
      token.onCancellationRequested(() => aborting.abort());
      const response = await fetch(`${url()}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: model.id, stream: true, messages: messages.flatMap(written), tools: tools.map(tool) }),
        signal: aborting.signal,
      });
      for await (const part of parts(response.body)) progress.report(part);
    },
  });
  const listening = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("coppiceTests")) changed.fire();
  });
  return vscode.Disposable.from(provider, listening, changed);
};

function tool({ name, description, inputSchema }) {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

function written({ role, content }) {
  const of = (kind) => content.filter((part) => part instanceof kind);
  const text = (found) => found.map(({ value }) => value).join("\n\n");
  const results = of(vscode.LanguageModelToolResultPart).map(({ callId, content: given }) => ({
    role: "tool",
    tool_call_id: callId,
    content: text(given),
  }));
  const calls = of(vscode.LanguageModelToolCallPart).map(({ callId, name, input }) => ({
    id: callId,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const ownText = text(of(vscode.LanguageModelTextPart));
  const speaker = role === vscode.LanguageModelChatMessageRole.Assistant ? "assistant" : "user";
  const own = { role: speaker, content: ownText, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return ownText === "" && calls.length === 0 ? results : [...results, own];
}

/** The text as it comes, and the tool calls once they are complete. */
async function* parts(body) {
  const calls = [];
  for await (const { choices } of events(body)) {
    const { content, tool_calls: pieces = [] } = choices?.[0]?.delta ?? {};
    if (content) yield new vscode.LanguageModelTextPart(content);
    for (const { index, id, function: piece } of pieces) {
      calls[index] ??= { id, name: "", json: "" };
      calls[index].name += piece.name ?? "";
      calls[index].json += piece.arguments ?? "";
    }
  }
  for (const { id, name, json } of calls) yield new vscode.LanguageModelToolCallPart(id, name, JSON.parse(json));
}

async function* events(body) {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop();
    for (const line of blocks.flatMap((block) => block.split("\n"))) {
      if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
