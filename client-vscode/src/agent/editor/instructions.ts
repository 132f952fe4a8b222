import * as vscode from "vscode";

import { placeOf } from "../paths";
import { INSTRUCTION_FILES, type Instructions, systemPrompt } from "../prompt";
import { readText } from "./files";

/** The system prompt for the next turn. A workspace that is not trusted adds nothing to it. */
export async function currentSystemPrompt(folders: readonly string[], tools: readonly string[]): Promise<string> {
  const settings = vscode.workspace.getConfiguration("coppice");
  const wanted = settings.get<boolean>("chat.instructionFiles", true) && vscode.workspace.isTrusted;
  const found: (Instructions | undefined)[] = wanted ? await Promise.all(folders.map((folder) => instructionsIn(folders, folder))) : [];
  return systemPrompt(settings.get("chat.systemPrompt", ""), {
    folders,
    platform: process.platform,
    shell: vscode.env.shell || "sh",
    tools,
    instructions: found.flatMap((each) => each ?? []),
  });
}

async function instructionsIn(folders: readonly string[], folder: string): Promise<Instructions | undefined> {
  for (const name of INSTRUCTION_FILES) {
    try {
      // A link out of the workspace is no file of the checkout.
      const place = await placeOf(folders, vscode.Uri.joinPath(vscode.Uri.file(folder), name).fsPath);
      const text = await readText(place.path);
      if (text !== null && text.trim() !== "") return { path: `${place.prefix}${name}`, text };
    } catch {
      // What cannot be read gives no instructions.
    }
  }
  return undefined;
}
