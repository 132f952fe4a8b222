import { homedir } from "node:os";
import { basename } from "node:path";
import * as vscode from "vscode";

import { ago, oneLine } from "../format";
import type { Conversation } from "../protocol.gen";
import { findTranscripts, type Transcript } from "./find";

/** The sessions of other agents in this window's folders. */
export function transcriptsHere(): Promise<Transcript[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  return findTranscripts(folders, { home: homedir(), variables: process.env });
}

/** Those of which no conversation was made yet. */
export function notImported(transcripts: readonly Transcript[], conversations: readonly Conversation[]): Transcript[] {
  const names = new Set(conversations.map(({ source }) => source?.name));
  return transcripts.filter(({ path }) => !names.has(basename(path)));
}

const ANOTHER = "Another File…";

/** Asks for a session to import: one that was found, or a file. Undefined where the user leaves. */
export async function pickTranscript(transcripts: readonly Transcript[], conversations: readonly Conversation[]): Promise<vscode.Uri | "another" | undefined> {
  if (transcripts.length === 0) return "another";
  const fresh = new Set(notImported(transcripts, conversations));
  const items = transcripts.map((transcript) => ({
    label: oneLine(transcript.title) || basename(transcript.path),
    description: `${transcript.agent} · ${ago(new Date(transcript.modified).toISOString(), Date.now())}${fresh.has(transcript) ? "" : " · imported before"}`,
    uri: vscode.Uri.file(transcript.path),
  }));
  const picked = await vscode.window.showQuickPick([...items, { label: ANOTHER, description: "", uri: "another" as const }], {
    title: "Import Conversation",
    placeHolder: "A session of another agent in this workspace, or a file",
    matchOnDescription: true,
  });
  return picked?.uri;
}
