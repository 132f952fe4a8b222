import * as vscode from "vscode";

import type { Mode } from "../../modes/mode";
import { instructionsIn } from "../instructions";
import { type Instructions, systemPrompt } from "../prompt";
import { shellFor, shellOutside } from "../shell";
import { readText } from "./files";
import { platform } from "../../operating-system";

/** The system prompt for the next turn. A workspace that is not trusted adds nothing to it. */
export async function currentSystemPrompt(folders: readonly string[], tools: readonly string[], mode: Mode): Promise<string> {
  const settings = vscode.workspace.getConfiguration("coppice");
  const wanted = settings.get<boolean>("chat.instructionFiles", true) && vscode.workspace.isTrusted;
  const byFolder: (Instructions | undefined)[] = wanted ? await Promise.all(folders.map((folder) => instructionsIn(folders, folder, readText))) : [];
  return systemPrompt(settings.get("chat.systemPrompt", ""), {
    folders,
    platform: platform(),
    shell: shellFor(await shellOutside(vscode.env.shell, folders), platform()),
    tools,
    mode,
    instructions: byFolder.flatMap((each) => each ?? []),
  });
}
