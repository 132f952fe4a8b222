import { counted, oneLine } from "../format";
import type { LedgerResult, WorkLedger } from "../protocol.gen";

/** One fact: `icon` is one of VS Code's, `entryId` the entry that it comes from. */
export interface Fact {
  kind: "fact";
  icon: string;
  text: string;
  detail: string;
  entryId: string | null;
}

export interface Section {
  kind: "section";
  title: "Done" | "Open" | "Next";
  facts: Fact[];
}

/** Lines of a section, the newest of what is done and the rest from the beginning. A guess: more than one screen. */
const MOST_FACTS = 50;
const LONGEST = 160;

/** What is done, what is open and what comes next; sections without facts are left out. */
export function sections({ ledger, leafId }: LedgerResult): Section[] {
  const all: Section[] = [
    { kind: "section", title: "Open", facts: open(ledger).slice(0, MOST_FACTS) },
    { kind: "section", title: "Next", facts: next(ledger, leafId).slice(0, MOST_FACTS) },
    { kind: "section", title: "Done", facts: done(ledger).toReversed().slice(0, MOST_FACTS) },
  ];
  return all.filter(({ facts }) => facts.length > 0);
}

function open({ tasks = [], problems = [], checks = [], uncommitted = [], jobs = [] }: WorkLedger): Fact[] {
  return [
    ...problems.filter((problem) => problem.open).map(({ entryId, what, error }) => fact("error", what, error, entryId)),
    ...checks.filter(({ passed }) => !passed).map(({ entryId, command, result }) => fact("error", command, result, entryId)),
    ...checks.filter(({ passed, stale }) => passed && stale).map(({ entryId, command }) => fact("history", command, "passed, before later changes", entryId)),
    ...tasks.filter(({ state }) => state === "in_progress").map(({ entryId, title }) => fact("play", title, "in progress", entryId)),
    ...tasks.filter(({ state }) => state === "blocked").map(({ entryId, title }) => fact("circle-slash", title, "blocked", entryId)),
    ...jobs.filter(({ state }) => state === "running").map(({ entryId, command }) => fact("sync", command, "running", entryId)),
    ...uncommitted.map(({ entryId, path, kind, edits }) => fact("diff-modified", path, `${kind}, ${counted(edits, "edit")}, not committed`, entryId)),
  ];
}

function next({ tasks = [], intent, finished, requests = [] }: WorkLedger, leafId: string | null): Fact[] {
  const asked = requests.filter(({ kind, withdrawnBy }) => kind === "request" && withdrawnBy === undefined).at(-1);
  return [
    ...(finished || asked === undefined ? [] : [fact("account", asked.text, "asked last", asked.entryId)]),
    ...(intent === "" ? [] : [fact("arrow-right", intent, "announced", leafId)]),
    ...tasks.filter(({ state }) => state === "open").map(({ entryId, title }) => fact("circle-large-outline", title, "", entryId)),
  ];
}

function done({ tasks = [], commits = [], checks = [] }: WorkLedger): Fact[] {
  return [
    ...checks.filter(({ passed, stale }) => passed && !stale).map(({ entryId, command, result }) => fact("pass", command, result, entryId)),
    ...tasks.filter(({ state }) => state === "done").map(({ entryId, title }) => fact("check", title, "", entryId)),
    ...commits.map(({ entryId, hash, subject, pushed }) => fact("git-commit", subject, [hash, pushed ? "pushed" : ""].filter((part) => part !== "").join(", "), entryId)),
  ];
}

function fact(icon: string, text: string, detail: string, entryId: string | null): Fact {
  return { kind: "fact", icon, text: oneLine(text, LONGEST), detail: oneLine(detail, LONGEST), entryId };
}
