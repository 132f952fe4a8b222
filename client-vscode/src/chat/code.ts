import * as vscode from "vscode";

import type { Feature } from "./feature";
import type { FromPage } from "./messages";

interface Choice extends vscode.QuickPickItem {
  apply: () => Promise<void>;
}

/** Takes code from a message into an editor, where it can be undone. */
export class CodeActions implements Feature {
  greet(): void {
    // The page needs to know nothing.
  }

  async handle(message: FromPage): Promise<boolean> {
    if (message.type !== "applyCode") return false;
    const editor = lastEditor();
    if (message.action === "insert" && editor !== undefined) {
      await editor.edit((edit) => { edit.replace(editor.selection, message.text); });
      await show(editor);
      return true;
    }
    const picked = await vscode.window.showQuickPick(choices(editor, message), { title: "Apply Code" });
    await picked?.apply();
    return true;
  }
}

/** The chat takes the focus, and with it the active editor: then it is one that is seen. */
function lastEditor(): vscode.TextEditor | undefined {
  return vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === "file");
}

function choices(editor: vscode.TextEditor | undefined, { text, language }: { text: string; language: string }): Choice[] {
  const untitled: Choice = {
    label: "New File",
    apply: async () => {
      const isLanguage = (await vscode.languages.getLanguages()).includes(language);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(isLanguage ? { content: text, language } : { content: text }));
    },
  };
  if (editor === undefined) return [untitled];
  const name = vscode.workspace.asRelativePath(editor.document.uri);
  const replacing = (label: string, range: vscode.Range): Choice => ({
    label,
    description: name,
    apply: async () => {
      await editor.edit((edit) => { edit.replace(range, text); });
      await show(editor);
    },
  });
  const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
  return [
    editor.selection.isEmpty ? replacing("Insert at the Cursor", editor.selection) : replacing("Replace the Selection", editor.selection),
    replacing("Replace the Whole File", new vscode.Range(new vscode.Position(0, 0), end)),
    untitled,
  ];
}

async function show({ document, viewColumn }: vscode.TextEditor): Promise<void> {
  await vscode.window.showTextDocument(document, viewColumn === undefined ? {} : { viewColumn });
}
