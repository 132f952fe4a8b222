// Two tools for a model, and a model, as other extensions bring them; and what clears the window between two scenes.
const vscode = require("vscode");
const { offerModel } = require("./model.cjs");

exports.activate = (context) => {
  const at = (path) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, path);
  const result = (text) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  context.subscriptions.push(
    vscode.lm.registerTool("read_file", {
      invoke: async ({ input }) => result(new TextDecoder().decode(await vscode.workspace.fs.readFile(at(input.path)))),
    }),
    vscode.lm.registerTool("write_file", {
      invoke: async ({ input }) => {
        await vscode.workspace.fs.writeFile(at(input.path), new TextEncoder().encode(input.content));
        return result(`Wrote ${input.path}`);
      },
    }),
    vscode.commands.registerCommand("coppiceTests.clear", async () => {
      await vscode.commands.executeCommand("workbench.action.closeAllEditors");
      await vscode.commands.executeCommand("notifications.clearAll");
    }),
    offerModel(),
  );
};
