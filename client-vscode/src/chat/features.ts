import type * as vscode from "vscode";

import { BeforeDocuments } from "../agent/editor/before";
import type { EditorHost } from "../agent/editor/host";
import { EditReview } from "../agent/editor/review";
import type { Approvals } from "../approvals/approvals";
import type { CoppiceClient } from "../client";
import { Attachments } from "../context/attachments";
import type { Conversations } from "../conversations";
import { callForAttention } from "./attention";
import { BranchFiles } from "./branch-files";
import { BranchDifferences } from "../branches/differences";
import { StateDocuments } from "../documents/states";
import { BranchStates } from "./branch-states";
import { CodeActions } from "./code";
import { CommandCards } from "./command-cards";
import { DeletedStates } from "./deleted-states";
import { FileChanges } from "./file-changes";
import type { Modes } from "../modes/modes";
import { ModeChoice } from "./mode-choice";
import type { NextChoice } from "../models/choice";
import { NextModel } from "./next-model";
import { ModelNotes } from "./model-notes";
import { MessageActions } from "./on-message";
import type { Chat } from "./panel";
import { Plans } from "./plans";
import { ProposedEdits } from "./proposed-edits";
import { MessageQueue } from "./queue";
import { SlashCommands } from "./slash";
import { TurnChanges } from "./turn-changes";

interface Parts {
  client: CoppiceClient;
  conversations: Conversations;
  approvals: Approvals;
  host: EditorHost;
  modes: Modes;
  choice: NextChoice;
}

/** Adds to the chat what it can do besides turns; what is attached to messages, and what brings files along, is returned. */
export function addFeatures(context: vscode.ExtensionContext, chat: Chat, { client, conversations, approvals, host, modes, choice }: Parts): { attached: Attachments; branchFiles: BranchFiles; notes: ModelNotes; differences: BranchDifferences } {
  const before = new BeforeDocuments();
  const proposed = new ProposedEdits(approvals);
  context.subscriptions.push(before, proposed);
  let attached!: Attachments;
  chat.addFeature((access) => (attached = new Attachments(access, host, () => conversations.active)));
  chat.addFeature((access) => {
    context.subscriptions.push(attached, callForAttention(chat, approvals, access));
    return new MessageQueue(access, attached);
  });
  chat.addFeature((access) => new ModeChoice(access, modes));
  chat.addFeature((access) => new NextModel(access, choice));
  chat.addFeature((access) => new Plans(access, approvals, modes));
  chat.addFeature(() => proposed);
  chat.addFeature((access) => new CommandCards(access, host.commands));
  chat.addFeature(() => new CodeActions());
  const memory = context.workspaceState;
  const states = new BranchStates(client, memory);
  const notes = new ModelNotes(client, host.snapshots, states, memory);
  const changes = new FileChanges(memory);
  let branchFiles!: BranchFiles;
  chat.addFeature((access) => (branchFiles = new BranchFiles(access, client, host.snapshots, states, changes, notes, memory)));
  chat.addFeature(() => new DeletedStates(client, host.snapshots, memory));
  void branchFiles.resume((id) => { chat.show(id); });
  chat.addFeature((access) => new MessageActions(chat, access, client, conversations, branchFiles));
  chat.addFeature(() => new SlashCommands(client, (id) => conversations.select(id)));
  let edits!: EditReview;
  chat.addFeature((access) => (edits = new EditReview(access, client, host, memory, before)));
  chat.addFeature((access) => new TurnChanges(access, client, host.snapshots, branchFiles, edits, before, memory));
  const documents = new StateDocuments(client, host.snapshots);
  context.subscriptions.push(documents);
  return { attached, branchFiles, notes, differences: new BranchDifferences(client, states, host.snapshots, documents, branchFiles) };
}
