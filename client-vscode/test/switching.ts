/** Windows, one after the other, in which a conversation goes to another branch with its files. */
import type { Memento } from "vscode";

import { BranchFiles } from "../src/chat/branch-files";
import { BranchStates } from "../src/chat/branch-states";
import { FileChanges } from "../src/chat/file-changes";
import type { FilesOffer, FromPage, ToPage } from "../src/chat/messages";
import { ModelNotes } from "../src/chat/model-notes";
import { CoppiceError, ServerEndedError } from "../src/errors";
import type { PlacedStep } from "../src/snapshots/workspace";
import { window } from "./agent/vscode";
import type { Workspace } from "./snapshots/recorded";

type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];

/** Where the end of a window cuts a switch off. */
type Cut = "before the conversation has moved" | "before the files" | "between the files";

/**
 * A conversation of two branches, `one` and `two`, whose files are recorded, and whose person answers by `choice`. `next`
 * is what the next window has, where another person sits.
 */
export async function branches(workspace: Workspace, choice: Choice, cut?: Cut, later = choice) {
  const stored = new Map<string, unknown>();
  const memory = { get: (key: string, usual: unknown) => stored.get(key) ?? usual, update: (key: string, value: unknown) => { stored.set(key, structuredClone(value)); return Promise.resolve(); } } as unknown as Memento;
  const conversation = { leafId: "two" as string | undefined, runs: false, isDeleted: false, refuses: undefined as "cancelled" | "busy" | "ended" | undefined, drafts: [] as string[], notes: [] as string[], moved: {} as Record<string, string>, turns: {} as Record<string, string>, offers: [] as FilesOffer["kind"][] };
  const texts: Record<string, string> = {};
  for (const leaf of ["one", "two"]) {
    await workspace.write({ "notes": `${leaf}\n\n\n\nend\n`, [`only-${leaf}`]: "x\n" });
    if (leaf === "two") await workspace.write({ "only-one": null });
    texts[leaf] = await workspace.take();
  }
  const open = (answers: Choice, unfinished = answers, isCut = (_at: Cut): boolean => false) => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => { end = resolve; });
    const die = (): Promise<never> => { end(); return new Promise(() => undefined); };
    const navigate = async (leafId: string): Promise<object> => {
      if (isCut("before the conversation has moved")) return die();
      if (conversation.refuses === "busy") throw new Error("busy");
      if (conversation.refuses === "cancelled") return { leafId: conversation.leafId, cancelled: true };
      conversation.leafId = leafId === "first" ? undefined : leafId;
      if (conversation.refuses === "ended") throw new ServerEndedError();
      return isCut("before the files") ? die() : { leafId: conversation.leafId ?? null, cancelled: false };
    };
    const entries = (leafId: string | undefined): object[] => {
      if (leafId === undefined) return [];
      const before = conversation.moved[leafId];
      if (before !== undefined) return [...entries(before), { id: leafId, type: "model_change" }];
      const begin = conversation.turns[leafId];
      return [...begin === undefined ? [] : entries(begin), { id: leafId, type: "message", message: texts[leafId] === "" ? { role: "user" } : { role: "toolResult", workspaceState: texts[leafId] } }];
    };
    let notify = (_event: object): void => undefined;
    const client = {
      onNotification: (method: string, listener: typeof notify) => { if (method === "coppice/conversationChanged") notify = listener; },
      request: async (method: string, { leafId = conversation.leafId, targetId = "", entries: added = [] }: { leafId?: string; targetId?: string; entries?: { content: string }[] }) => {
        if (method === "coppice/append") return void conversation.notes.push(...added.map(({ content }) => content));
        if (method === "coppice/conversation/list") return { conversations: [{ id: "c", name: "Shop" }] };
        if (method === "coppice/tree") return { nodes: [{ id: "summary", parentId: null, role: "assistant" }, { id: "first", parentId: null, role: "user" }] };
        if (conversation.isDeleted) throw new CoppiceError("There is no such conversation.", "unknown-conversation");
        return method === "coppice/navigate" ? navigate(targetId) : { entries: entries(leafId) };
      },
    };
    const snapshots = Object.assign(workspace.open(), isCut("between the files") && { write: async (id: string, steps: readonly PlacedStep[]) => { await workspace.snapshots.write(id, steps.slice(0, 1)); return die(); } });
    const states = new BranchStates(client as never, memory);
    const notes = new ModelNotes(client as never, snapshots, states, memory);
    const answer = ({ id, kind }: FilesOffer): void => { conversation.offers.push(kind); void files.handle({ type: "answerFiles", id, choice: kind === "unfinished" ? unfinished : answers, always: false }, "c"); };
    const post = (message: ToPage): void => {
      if (message.type === "filesOffer" && message.offer !== undefined) setImmediate(answer, message.offer);
    };
    const chat = { post, isRunning: () => conversation.runs, putDraft: (_id: string, text: string) => { conversation.drafts.push(text); } };
    const changes = new FileChanges(memory);
    const files = new BranchFiles(chat as never, client as never, snapshots, states, changes, notes, memory);
    const go = (targetId: string) => files.move("c", targetId, () => navigate(targetId) as never, "Say one.");
    return { files, changes, notes, states, snapshots, go, ended, drop: () => { notify({ conversationId: "c", changes: ["deleted"] }); } };
  };
  return { conversation, texts, stored, next: open, ...open(choice, later, (at) => at === cut) };
}

/** Has the notices of a switch answered one after the other, until `last` is shown, and gives what they said. */
export function noticesUntil(last: RegExp, answers: readonly (string | undefined | Promise<string>)[]): Promise<string[]> {
  const notices: string[] = [];
  return new Promise((resolve) => {
    window.answer = (message) => {
      notices.push(message);
      if (notices.length > answers.length && last.test(message)) resolve(notices);
      return answers[notices.length - 1];
    };
  });
}

/** The files of the branches. */
export const ONE = { "notes": "one\n\n\n\nend\n", "only-one": "x\n" };
export const TWO = { "notes": "two\n\n\n\nend\n", "only-two": "x\n" };

export const WENT = "Went to the branch and changed 3 files.";
