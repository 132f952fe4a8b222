import * as vscode from "vscode";

import type { CoppiceClient } from "../client";
import { sentence } from "../errors";
import { counted, oneLine } from "../format";
import type { Conversation, SearchHit } from "../protocol.gen";

const MOST_CONVERSATIONS = 200;
const MOST_HITS = 50;
const TYPING_MS = 200;
const SEARCH = "Search Conversations";

export function title({ name, firstMessage }: Conversation): string {
  return oneLine(name ?? firstMessage ?? "", 80) || "New conversation";
}

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
    return conversations.map((conversation) => ({
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
  pick.placeholder = "Words that were said, on any branch";
  let asked = 0;
  let typing: NodeJS.Timeout | undefined;

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
      pick.items = hits.map(hitItem);
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

function hitItem(hit: SearchHit): HitItem {
  return {
    label: oneLine(hit.snippet, 160),
    description: hit.onCurrentBranch ? "" : "another branch",
    detail: new Date(hit.timestamp).toLocaleString(),
    // The server has matched; the editor's own filter would hide what it found by other forms of a word.
    alwaysShow: true,
    hit,
  };
}
