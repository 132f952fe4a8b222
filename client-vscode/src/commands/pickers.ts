import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { isBegun, title } from "../conversation-list/model";
import { sentence } from "../errors";
import { counted, oneLine } from "../format";
import type { Conversation, SearchHit } from "../protocol.gen";

export const MOST_CONVERSATIONS = 200;
const MOST_HITS = 50;
const TYPING_MS = 200;
const SEARCH = "Search Conversations";

/** The folder that a conversation is to belong to: asked where there are several, `none` where there is none. */
export async function pickFolder(what: string): Promise<vscode.WorkspaceFolder | "none" | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [first] = folders;
  if (first === undefined) return "none";
  if (folders.length === 1) return first;
  return vscode.window.showWorkspaceFolderPick({ placeHolder: `${what}: of which folder?` });
}

export async function pickConversation(client: CoppiceClient, active: string | undefined): Promise<Conversation | undefined> {
  const list = async () => {
    const { conversations } = await client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS });
    return conversations.filter(isBegun).map((conversation) => ({
      label: title(conversation),
      description: conversation.id === active ? "open" : "",
      detail: `${new Date(conversation.modifiedAt).toLocaleString()} · ${counted(conversation.entryCount, "entry", "entries")}`,
      conversation,
    }));
  };
  const picked = await vscode.window.showQuickPick(list(), { title: "Open Conversation", matchOnDetail: true });
  return picked?.conversation;
}

interface HitItem extends vscode.QuickPickItem {
  hit: SearchHit;
}

/** Searches while the user types; an answer that comes after a later question is dropped. */
export function pickHit(client: CoppiceClient): Promise<SearchHit | undefined> {
  const pick = vscode.window.createQuickPick<HitItem>();
  pick.title = SEARCH;
  pick.placeholder = "Words of any branch";
  let asked = 0;
  let typing: NodeJS.Timeout | undefined;
  const titles = client.request("coppice/conversation/list", { limit: MOST_CONVERSATIONS })
    .then(({ conversations }) => new Map(conversations.map((each) => [each.id, title(each)])), () => new Map<string, string>());

  const search = async (query: string): Promise<void> => {
    const question = ++asked;
    if (query.trim() === "") {
      pick.items = [];
      return;
    }
    pick.busy = true;
    try {
      const { hits } = await client.request("coppice/conversation/search", { query, limit: MOST_HITS });
      if (question !== asked) return;
      pick.title = SEARCH;
      const names = await titles;
      pick.items = hits.map((hit) => hitItem(hit, names.get(hit.conversationId) ?? ""));
    } catch (error) {
      if (question === asked) pick.title = `${SEARCH}: ${sentence(error)}`;
    } finally {
      if (question === asked) pick.busy = false;
    }
  };
  return new Promise((resolve) => {
    pick.onDidChangeValue((query) => {
      clearTimeout(typing);
      typing = setTimeout(() => void search(query), TYPING_MS);
    });
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen === undefined) return;
      resolve(chosen.hit);
      pick.hide();
    });
    pick.onDidHide(() => {
      clearTimeout(typing);
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

const SPEAKERS: Readonly<Record<string, string>> = {
  user: "You",
  assistant: "Assistant",
  toolResult: "Tool",
  bashExecution: "Command",
  developer: "Instructions",
  system: "System prompt",
  compaction: "Summary",
  branch_summary: "Branch summary",
  context_edit: "Context edit",
  label: "Label",
  session_info: "Name",
  file_activity: "Files",
};

/** Who wrote what was found. */
export function speaker({ type, role, attached }: Pick<SearchHit, "type" | "role" | "attached">): string {
  if (attached === true) return "Attached";
  return SPEAKERS[role ?? type] ?? "Extension";
}

function hitItem(hit: SearchHit, conversation: string): HitItem {
  return {
    label: oneLine(hit.snippet, 160),
    description: hit.onCurrentBranch ? "" : "another branch",
    detail: [conversation, speaker(hit), new Date(hit.timestamp).toLocaleString()].filter((part) => part !== "").join(" · "),
    // The server has matched; the editor's own filter would hide what it found by other forms of a word.
    alwaysShow: true,
    hit,
  };
}
