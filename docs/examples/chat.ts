// A chat whose conversation Coppice keeps, for a client that has a model. Needs `coppice` on PATH and the package
// vscode-jsonrpc.
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

type Model = (messages: readonly object[]) => Promise<string>;

export async function* chat(folder: string, inputs: AsyncIterable<string>, askModel: Model, command = "coppice") {
  const server = spawn(command, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const coppice = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  coppice.listen();
  await coppice.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: {},
  });
  await coppice.sendNotification("initialized", {});
  const { conversation } = await coppice.sendRequest<{ conversation: { id: string } }>("coppice/conversation/create", {});
  const conversationId = conversation.id;

  const append = async (message: object) => {
    const params = { conversationId, entries: [{ type: "message", message }] };
    return coppice.sendRequest<{ usage: { shouldCompact: boolean } }>("coppice/append", params);
  };
  for await (const content of inputs) {
    const { usage } = await append({ role: "user", content });
    if (usage.shouldCompact) await coppice.sendRequest("coppice/compact", { conversationId });
    const context = { conversationId, format: "openai" };
    const { messages } = await coppice.sendRequest<{ messages: object[] }>("coppice/context", context);
    const text = await askModel(messages);
    await append({ role: "assistant", content: [{ type: "text", text }] });
    yield text;
  }
  await coppice.sendRequest("shutdown");
  await coppice.sendNotification("exit");
  coppice.dispose();
}
